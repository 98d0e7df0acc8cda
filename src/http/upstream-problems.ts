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
    message: 'Your identity provider did not say who you are, so nothing was changed.',
    advice: 'Tell an administrator the code below; the identity provider has to send its identifier for you.',
  },
  upstream_answer_invalid: {
    status: 400,
    message: 'The answer of your identity provider could not be verified.',
    advice: 'Sign in again. If it happens again, tell an administrator the code below.',
  },
  upstream_signature_invalid: {
    status: 401,
    message: 'The answer of your identity provider has no valid signature.',
    advice: 'Sign in again. If it happens again, tell an administrator the code below.',
  },
  upstream_encryption_not_accepted: {
    status: 401,
    message: 'The answer of your identity provider is not encrypted in a way that this server accepts.',
    advice:
      'Tell an administrator the code below: the encryption has to change at the identity provider or in the connection.',
  },
  upstream_denied: {
    status: 400,
    message: 'Your identity provider did not sign you in.',
    advice: 'Sign in again, or choose another way.',
  },
  upstream_not_fresh: {
    status: 401,
    message: 'Your identity provider did not confirm that you signed in there just now.',
    advice:
      'Sign in with a password or passkey of this server. If you have none, ask an administrator for a link to set a password.',
  },
  upstream_not_allowed: {
    status: 403,
    message: 'This identity provider may not be used with that account.',
    advice: 'Use an account of your organization, or ask an administrator.',
  },
  sign_in_method_not_allowed: {
    status: 403,
    message: 'This application does not accept this way to sign in.',
    advice: 'Go back and choose one of the ways that the sign-in page offers.',
  },
  connection_disabled: {
    status: 403,
    message: 'This way to sign in is switched off.',
    advice: 'Go back and choose another one.',
  },
  not_invited: {
    status: 403,
    message: 'There is no account here for you yet.',
    advice: 'Ask an administrator for an account, or sign in with an account that you have here and connect it there.',
  },
  upstream_other_account: {
    status: 409,
    message: 'You signed in to another account than the one with that address.',
    advice: 'Sign in to the account with the address of your identity provider, or cancel and begin again.',
  },
  upstream_other_user: {
    status: 409,
    message: 'Your identity provider signed in another user than the one who is signed in here.',
    advice: 'Sign in there as the same user, or sign out here first.',
  },
  identity_taken: {
    status: 409,
    message: 'This identity is connected to another account already.',
    advice: 'Disconnect it there first.',
  },
  last_way_in: {
    status: 409,
    message: 'This is the only way into your account, so it has to stay.',
    advice: 'Set a password or add a passkey first.',
  },
  upstream_unavailable: {
    status: 503,
    message: 'Your identity provider cannot be reached at the moment.',
    advice: 'Try again in a minute.',
  },
} as const satisfies Record<string, Problem>;
