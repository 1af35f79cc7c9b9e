// Accounts: add, disable, delete, new one-time password.

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { User, UserMade, Users } from "../../../core/wire/session.ts";
import { call } from "../api.ts";
import { sizeText } from "../core/duration.ts";
import { Awaited } from "../parts/awaited.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { Failure, failureText } from "../parts/failure.tsx";
import { useNow } from "../parts/now.ts";
import { useResource } from "../resource.ts";
import { useAct } from "../sign-in.tsx";
import { say } from "../text/provider-words.ts";
import { momentText, t } from "../text/text.ts";

type Asked = { readonly act: "reset" | "disable" | "delete"; readonly user: User };

export function UsersView(): VNode {
  const { value, failed, refresh } = useResource<Users>("/api/admin/users", { pollMs: 30_000 });
  const [adding, setAdding] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [made, setMade] = useState<UserMade | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const now = useNow(60_000);
  if (!value) return <Awaited failed={failed} />;

  const change = (user: User, verb: "password" | "disable" | "enable" | "delete"): void => {
    setRefused(null);
    const path = `/api/admin/users/${encodeURIComponent(user.name)}`;
    const answered: Promise<UserMade | null> =
      verb === "delete" ? call(path, { method: "DELETE" }) : call(`${path}/${verb}`, { method: "POST" });
    answered.then(
      (answer) => {
        if (verb === "password" && answer) setMade(answer);
        refresh();
      },
      (error: unknown) => setRefused(failureText(error)),
    );
  };

  return (
    <>
      {failed && <Failure text={failed} />}
      {refused && <Failure text={refused} />}
      <p class="toolbar">
        <button type="button" class="primary" onClick={() => setAdding(true)}>
          {t("users.add")}
        </button>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard */}
      <section class="card scroll" tabIndex={0} aria-label={t("admin.users")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("signIn.name")}</th>
              <th scope="col">{t("users.role")}</th>
              <th scope="col">{t("admin.state")}</th>
              <th scope="col">{t("users.created")}</th>
              <th scope="col">{t("users.usage")}</th>
              <th scope="col">
                <span class="visually-hidden">{t("users.acts")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value.items.map((user) => (
              <tr key={user.name}>
                <td>
                  {user.name}
                  {user.provider && (
                    <>
                      <br />
                      <small>{say("provider.from", { host: URL.parse(user.provider)?.host ?? user.provider })}</small>
                    </>
                  )}
                </td>
                <td>{t(`role.${user.role}`)}</td>
                <td>
                  {user.disabled ? t("users.disabled") : user.initialPassword ? t("users.initial") : t("users.active")}
                </td>
                <td>{momentText(user.createdAt, now)}</td>
                <td>{usageText(user.usage, value.limits)}</td>
                <td class="acts">
                  <button type="button" class="link" onClick={() => setAsked({ act: "reset", user })}>
                    {t("users.reset")}
                  </button>
                  <button
                    type="button"
                    class="link"
                    onClick={() => (user.disabled ? change(user, "enable") : setAsked({ act: "disable", user }))}
                  >
                    {user.disabled ? t("users.enable") : t("users.disable")}
                  </button>
                  <button type="button" class="link" onClick={() => setAsked({ act: "delete", user })}>
                    {t("users.delete")}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {adding && (
        <AddDialog
          onClose={() => setAdding(false)}
          onMade={(answer) => {
            setAdding(false);
            setMade(answer);
            refresh();
          }}
        />
      )}
      {asked && (
        <Confirm
          title={t(`users.${asked.act}Title`, { name: asked.user.name })}
          text={t(`users.${asked.act}Text`)}
          action={t(`users.${asked.act}`)}
          danger={asked.act !== "reset"}
          onClose={() => setAsked(null)}
          onConfirm={() => {
            setAsked(null);
            change(asked.user, asked.act === "reset" ? "password" : asked.act);
          }}
        />
      )}
      {made?.password && (
        <Dialog title={t("users.madeTitle", { name: made.name })} onClose={() => setMade(null)}>
          <p>{t("users.madeText")}</p>
          <p class="secret">
            <code>{made.password}</code>
            <CopyButton text={made.password} />
          </p>
        </Dialog>
      )}
    </>
  );
}

/** What the account holds beside what it may hold: always what is stored, the rest when there is any. */
function usageText(usage: User["usage"], limits: Users["limits"]): string {
  const { turns, uploads } = usage;
  return [
    t("users.stored", { held: sizeText(usage.storedBytes), limit: sizeText(limits.storedBytes) }),
    ...(turns > 0 ? [t("users.turns", { held: turns, limit: limits.turns })] : []),
    ...(uploads > 0 ? [t("users.uploads", { held: uploads, limit: limits.uploads })] : []),
  ].join(" · ");
}

function AddDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (made: UserMade) => void;
}): VNode {
  const [name, setName] = useState("");
  const [role, setRole] = useState<User["role"]>("member");
  const act = useAct();
  return (
    <Dialog title={t("users.add")} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          act.run(async () =>
            onMade(await call<UserMade>("/api/admin/users", { method: "POST", body: { name, role } })),
          );
        }}
      >
        <label>
          {t("signIn.name")}
          <input
            required
            maxLength={64}
            pattern="[A-Za-z0-9][A-Za-z0-9._@\-]*"
            autocapitalize="none"
            spellcheck={false}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label>
          {t("users.role")}
          <select value={role} onChange={(event) => setRole(event.currentTarget.value as User["role"])}>
            <option value="member">{t("role.member")}</option>
            <option value="administrator">{t("role.administrator")}</option>
          </select>
        </label>
        {act.failed && <Failure text={act.failed} />}
        <footer>
          <button type="button" onClick={onClose}>
            {t("cancel")}
          </button>
          <button type="submit" class="primary" disabled={act.busy}>
            {t("users.add")}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
