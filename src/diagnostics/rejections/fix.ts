// A change that fixes a broken rule.
import type { Actor } from '../../audit/audit.ts';

export interface Fix {
  id: string;
  label: string;
  /** The address that it registers. */
  adds?: string | undefined;
  /** What to find out before it. */
  warning?: string | undefined;
  /** The permission for the change. */
  needs: 'gatehouse.applications:write' | 'gatehouse.roles:write' | 'gatehouse.connections:write';
}

export interface ApplicableFix extends Fix {
  apply(by: Actor): Promise<unknown>;
}
