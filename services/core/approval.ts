// Who is asked before a call, by role. Pure. What a playbook's step asks by itself is asked whoever runs it.

import type { AppConfig } from "../../config/config.ts";

type Tools = AppConfig["tools"];
export type Role = "administrator" | "member";

/** Tools that are not called before a person allows it, in the work of somebody with that role. */
export function toolsToAllow(tools: Pick<Tools, "approval" | "approvalOf">, role: Role): readonly string[] {
  return tools.approvalOf === "members" && role === "administrator" ? [] : tools.approval;
}

/** True when somebody with that role may allow and refuse: what is their own, or what is others'. */
export function mayAllow(
  tools: Pick<Tools, "approvers">,
  role: Role,
): { readonly own: boolean; readonly others: boolean } {
  const isAdministrator = role === "administrator";
  return {
    own: isAdministrator || tools.approvers !== "onlyAdministrators",
    others: isAdministrator && tools.approvers !== "owner",
  };
}
