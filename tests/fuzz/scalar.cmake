# SPDX-License-Identifier: Apache-2.0
cox_fuzz(quantity_fuzz quantity_fuzz.cc cox_object)
cox_fuzz(label_selector_fuzz label_selector_fuzz.cc cox_object)
cox_fuzz(field_selector_fuzz field_selector_fuzz.cc cox_object)
cox_fuzz(time_fuzz time_fuzz.cc cox_object)
