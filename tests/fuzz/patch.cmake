# SPDX-License-Identifier: Apache-2.0
cox_fuzz(json_patch_fuzz json_patch_fuzz.cc cox_object)
cox_fuzz(merge_patch_fuzz merge_patch_fuzz.cc cox_object)
cox_fuzz(strategic_patch_fuzz strategic_patch_fuzz.cc cox_object)
