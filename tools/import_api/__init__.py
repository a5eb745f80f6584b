# SPDX-License-Identifier: Apache-2.0
"""Generates the tables under api/ from the published Kubernetes API definitions.

The data flow, one module per step:

  proto.py, gosource.py, openapi.py, discovery.py   read one kind of input each
  catalog.py                                        finds packages and resolves Go types across them
  build.py                                          merges the facts of one group version
  check.py                                          compares them with the OpenAPI file
  tables.py                                         the result: written to and read from .api text
  descriptions.py                                   the other output: field descriptions
  cli.py                                            the command line

Also: report.py collects contradictions; walk.py compares documents with tables (for tests).
Tests, from the root of the checkout: python3 -m unittest discover -s tools/import_api -t tools
"""
