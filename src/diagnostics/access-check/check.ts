// One check of the access check, and what its function returns.
import type { AccessDenial } from '../../applications/access-decision.ts';
import type { PageText } from '../../texts/text.ts';

export type CheckId =
  | AccessDenial
  | 'registration'
  | 'openid'
  | 'key'
  | 'grant'
  | 'method'
  | 'password'
  | 'directory'
  | 'lockout'
  | 'codes'
  | 'factor'
  | 'email'
  | 'verified-email'
  | 'product-role'
  | 'network'
  | 'metadata'
  | 'secret';

export interface Check {
  id: CheckId;
  label: PageText;
  /** `later`: the person does something at the sign-in. `warning`: it blocks nothing, but may be the cause. `skipped`: it does not apply. */
  state: 'passed' | 'failed' | 'warning' | 'later' | 'skipped';
  /** A sentence; empty where the label says everything. */
  explanation: PageText;
}

export type Result = Pick<Check, 'state' | 'explanation'>;

export const passed = (explanation: PageText = ''): Result => ({ state: 'passed', explanation });
export const failed = (explanation: PageText): Result => ({ state: 'failed', explanation });
export const later = (explanation: PageText): Result => ({ state: 'later', explanation });
export const warning = (explanation: PageText): Result => ({ state: 'warning', explanation });
export const skipped = (explanation: PageText): Result => ({ state: 'skipped', explanation });
