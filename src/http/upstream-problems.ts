// The errors of a sign-in at an upstream identity provider (http/errors.ts).

export interface Problem {
  status: number;
  /** What happened. Public, and the same for every user. */
  message: string;
  /** What to do next. */
  advice?: string;
  /** A link on this server to continue with. */
  next?: { href: string; label: string };
}

export const upstreamProblems = {
  upstream_no_identity: {
    status: 400,
    message: 'Your identity provider didn’t send your user ID, so nothing changed.',
    advice: 'Send the error reference below to your administrator.',
  },
  upstream_answer_invalid: {
    status: 400,
    message: 'We couldn’t verify the answer from your identity provider.',
    advice: 'Sign in again. If it happens again, send the error reference below to your administrator.',
  },
  upstream_signature_invalid: {
    status: 401,
    message: 'The answer from your identity provider has no valid signature.',
    advice: 'Sign in again. If it happens again, send the error reference below to your administrator.',
  },
  upstream_encryption_not_accepted: {
    status: 401,
    message: 'The answer from your identity provider uses an unsupported encryption.',
    advice: 'Send the error reference below to your administrator.',
  },
  upstream_denied: {
    status: 400,
    message: 'Your identity provider didn’t sign you in.',
    advice: 'Sign in again, or choose another way to sign in.',
  },
  upstream_not_fresh: {
    status: 401,
    message: 'Your identity provider didn’t confirm a recent sign-in.',
    advice:
      'Sign in here with a password or passkey. If you have neither, ask an administrator for a link to set a password.',
  },
  upstream_not_allowed: {
    status: 403,
    message: 'You can’t use this identity provider with that account.',
    advice: 'Use an account from your organization, or ask an administrator.',
  },
  sign_in_method_not_allowed: {
    status: 403,
    message: 'This app doesn’t accept this way to sign in.',
    advice: 'Go back and choose another way on the sign-in page.',
  },
  connection_disabled: {
    status: 403,
    message: 'This way to sign in is turned off.',
    advice: 'Go back and choose another way to sign in.',
  },
  not_invited: {
    status: 403,
    message: 'You don’t have an account here yet.',
    advice:
      'Ask an administrator for an account. If you already have one here, sign in and connect it on your account page.',
  },
  upstream_other_account: {
    status: 409,
    message: 'You signed in to a different account.',
    advice: 'Sign in to the account with the same email address as your identity provider, or cancel and start again.',
  },
  upstream_other_user: {
    status: 409,
    message: 'Your identity provider signed in a different user.',
    advice: 'Sign in there as the same user as here, or sign out here first.',
  },
  identity_taken: {
    status: 409,
    message: 'This identity is already connected to another account.',
    advice: 'Disconnect it from that account first.',
  },
  last_way_in: {
    status: 409,
    message: 'You can’t remove your only way to sign in.',
    advice: 'Set a password or add a passkey first.',
  },
  upstream_unavailable: {
    status: 503,
    message: 'We can’t reach your identity provider right now.',
    advice: 'Try again in a minute.',
  },
} as const satisfies Record<string, Problem>;
