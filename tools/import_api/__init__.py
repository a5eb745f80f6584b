# SPDX-License-Identifier: Apache-2.0
"""Turns the published Kubernetes API definitions into the tables under api/.

Path of the data, one module per station:

  proto.py, gosource.py, openapi.py, discovery.py   read one kind of input each
  catalog.py                                        finds packages, resolves Go types across them
  build.py                                          merges the facts of one group version
  check.py                                          compares them with the OpenAPI file
  tables.py                                         the result: written to and read from .api text
  descriptions.py                                   the other output: field descriptions
  cli.py                                            composes all of it

Beside the path: report.py collects contradictions; walk.py holds documents against tables (tests).
Tests, from the root of the checkout: python3 -m unittest discover -s tools/import_api -t tools
"""
