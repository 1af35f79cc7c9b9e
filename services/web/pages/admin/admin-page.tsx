// The whole installation on one page, with pages beside it for what is looked at closely.
// Invariant: nothing here has power: every button writes a row that the supervisor executes.

import type { VNode } from "preact";
import { follow } from "../routes.ts";
import { t } from "../text/text.ts";
import { AuditView } from "./audit-view.tsx";
import { FeedbackView } from "./feedback-view.tsx";
import { JobsView } from "./jobs-view.tsx";
import { LogsView } from "./logs-view.tsx";
import { OverviewView } from "./overview-view.tsx";
import { RolloutsView } from "./rollouts-view.tsx";
import { UpdatesView } from "./updates-view.tsx";
import { UsersView } from "./users-view.tsx";

const SECTIONS = ["overview", "jobs", "updates", "rollouts", "logs", "users", "feedback", "audit"] as const;

export default function AdminPage({ id }: { readonly id: string | null }): VNode {
  const section = SECTIONS.find((name) => name === id) ?? "overview";
  return (
    <section class="page admin">
      <header class="page-head">
        <h1>{t("nav.admin")}</h1>
        <nav class="tabs" aria-label={t("nav.admin")}>
          {SECTIONS.map((name) => (
            <a
              key={name}
              href={name === "overview" ? "/admin" : `/admin/${name}`}
              aria-current={name === section ? "page" : undefined}
              onClick={follow}
            >
              {t(`admin.${name}`)}
            </a>
          ))}
        </nav>
      </header>
      {section === "overview" && <OverviewView />}
      {section === "jobs" && <JobsView />}
      {section === "updates" && <UpdatesView />}
      {section === "rollouts" && <RolloutsView />}
      {section === "logs" && <LogsView />}
      {section === "users" && <UsersView />}
      {section === "feedback" && <FeedbackView />}
      {section === "audit" && <AuditView />}
    </section>
  );
}
