// The errors of a sign-in at an upstream identity provider (base/http/errors.ts).

import type { PageLink } from '../texts/text.ts';

export interface Problem {
  status: number;
  /** A link on this server to continue with. */
  next?: PageLink;
}

export const upstreamProblems = {
  upstream_no_identity: { status: 400 },
  upstream_answer_invalid: { status: 400 },
  upstream_signature_invalid: { status: 401 },
  upstream_encryption_not_accepted: { status: 401 },
  upstream_denied: { status: 400 },
  upstream_not_fresh: { status: 401 },
  upstream_not_allowed: { status: 403 },
  sign_in_method_not_allowed: { status: 403 },
  connection_disabled: { status: 403 },
  not_invited: { status: 403 },
  address_in_use: { status: 409 },
  upstream_other_account: { status: 409 },
  upstream_other_user: { status: 409 },
  identity_taken: { status: 409 },
  last_way_in: { status: 409 },
  upstream_unavailable: { status: 503 },
} as const satisfies Record<string, Problem>;
