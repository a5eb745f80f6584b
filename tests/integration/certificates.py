# SPDX-License-Identifier: Apache-2.0
"""Makes certificates for tests. Each is a pair of files in a directory, NAME.crt and NAME.key.

    make_ca(directory, "ca")
    make_certificate(directory, "node", "ca", "/CN=system:node:n1", "subjectAltName=IP:127.0.0.1")
"""

import os
import subprocess

from cluster import need_program

EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
RSA = ("-newkey", "rsa:2048", "-nodes")


def openssl(*arguments, directory=None, data=None):
    """Returns the output as bytes. Skips the test if openssl is not installed."""
    return subprocess.run([need_program("openssl"), *arguments], cwd=directory, input=data, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def make_ca(directory, name, key=EC):
    openssl("req", "-x509", *key, "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt",
            directory=directory)


def make_certificate(directory, name, ca, subject, *extensions, key=EC):
    """Makes a certificate signed by `ca`, the name of an earlier make_ca."""
    openssl("req", *key, "-subj", subject, "-keyout", f"{name}.key", "-out", f"{name}.csr", directory=directory)
    with open(os.path.join(directory, f"{name}.ext"), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in extensions)
    openssl("x509", "-req", "-days", "2", "-in", f"{name}.csr", "-CA", f"{ca}.crt", "-CAkey", f"{ca}.key", "-CAcreateserial",
            "-extfile", f"{name}.ext", "-out", f"{name}.crt", directory=directory)
