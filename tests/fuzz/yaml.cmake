# SPDX-License-Identifier: Apache-2.0
cox_fuzz(yaml_fuzz yaml_fuzz.cc cox_object)
