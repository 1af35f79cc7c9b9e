// What stands on a page until its value is there: that it is being read, or why it could not be; and a list of such.

import type { VNode } from "preact";
import type { Page } from "../../../core/wire/parts.ts";
import type { Resource } from "../resource.ts";
import { follow } from "../routes.ts";
import { t } from "../text/text.ts";
import { Failure } from "./failure.tsx";

/** In the place of a value that is not there yet. */
export function Awaited({ failed, onRetry }: { readonly failed: string | null; readonly onRetry?: () => void }): VNode {
  return failed ? <Failure text={failed} onRetry={onRetry} /> : <p class="loading">{t("loading")}</p>;
}

/** The rows of a list, `none` in their place when there are none; a reading that failed leaves the rows of before. */
export function WorkList<T>(props: {
  readonly list: Resource<Page<T>>;
  readonly none: string;
  readonly row: (item: T) => VNode;
}): VNode {
  const { list, none, row } = props;
  return (
    <>
      {(list.failed || (!list.value && !list.missing)) && <Awaited failed={list.failed} onRetry={list.refresh} />}
      {list.value?.items.length === 0 && <p class="none">{none}</p>}
      <ul class="work-list">{list.value?.items.map(row)}</ul>
    </>
  );
}

/** The way back from one to the list it belongs to. */
export function BackTo({ href, name }: { readonly href: string; readonly name: string }): VNode {
  return (
    <p>
      <a href={href} onClick={follow}>
        ← {name}
      </a>
    </p>
  );
}
