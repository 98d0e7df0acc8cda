// One check of the access check, and what its function returns.

import { accessRejections } from '../../applications/access-decision.ts';
import type { PageText } from '../../base/texts/text.ts';

/** Of each check; those of the access rule have the name of its rejection. Part of the admin API. */
export const checkIds = [
  ...accessRejections,
  'path',
  'registration',
  'api_access',
  'group',
  'openid',
  'key',
  'grant',
  'method',
  'password',
  'directory',
  'lockout',
  'codes',
  'factor',
  'email',
  'verified-email',
  'product-role',
  'name-id',
  'encryption',
  'network',
  'metadata',
  'secret',
] as const;
export type CheckId = (typeof checkIds)[number];

/** `later`: the person does something at the sign-in. `warning`: it blocks nothing, but may be the cause. `skipped`: it does not apply. */
export const checkStates = ['passed', 'failed', 'warning', 'later', 'skipped'] as const;

export interface Check {
  id: CheckId;
  label: PageText;
  state: (typeof checkStates)[number];
  /** A sentence; empty where the label says everything. */
  explanation: PageText;
}

export type Result = Pick<Check, 'state' | 'explanation'>;

export const check = (id: CheckId, label: PageText, result: Result): Check => ({ id, label, ...result });

export const passed = (explanation: PageText = ''): Result => ({ state: 'passed', explanation });
export const failed = (explanation: PageText): Result => ({ state: 'failed', explanation });
export const later = (explanation: PageText): Result => ({ state: 'later', explanation });
export const warning = (explanation: PageText): Result => ({ state: 'warning', explanation });
export const skipped = (explanation: PageText): Result => ({ state: 'skipped', explanation });
