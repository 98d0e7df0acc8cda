// A change that fixes a broken rule.

import type { PageText } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';

export interface Fix {
  id: string;
  label: PageText;
  /** What it changes for others: the other users of the application. */
  effect: PageText;
  /** The address that it registers. */
  adds?: string | undefined;
  /** What to find out before it. */
  warning?: PageText | undefined;
  /** The permission for the change. */
  needs:
    | 'gatehouse.applications:write'
    | 'gatehouse.roles:write'
    | 'gatehouse.connections:write'
    | 'gatehouse.users:write';
}

export interface ApplicableFix extends Fix {
  apply(by: Actor): Promise<unknown>;
}
