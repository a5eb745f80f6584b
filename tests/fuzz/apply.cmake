# SPDX-License-Identifier: Apache-2.0
cox_fuzz(apply_fuzz apply_fuzz.cc cox_object)
cox_fuzz(fieldset_json_fuzz fieldset_json_fuzz.cc cox_object)
cox_fuzz(runtime_type_fuzz runtime_type_fuzz.cc cox_object)
