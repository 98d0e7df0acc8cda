// The order of the sign-in steps, as one pure function. Every form returns to the dispatcher, which calls it; no step
// leads to another directly, so none can be skipped.

/** What the OIDC engine prompts for, and the names of the checks that demand it. */
export interface PromptRequest {
  prompt: string;
  reasons: string[];
}

export interface Progress {
  /** The first factor is proven, in this sign-in or in the session that is stepped up. */
  isIdentified: boolean;
  mustChangePassword: boolean;
  /** What the settings, the application or the requested authentication context still demand. */
  /** `approval`: the enrolment, and an administrator has to allow it. `upstream`: a stronger sign-in at the upstream. */
  missing: 'nothing' | 'upstream' | 'second-factor' | 'enrolment' | 'approval';
  /** After a recovery code: the lost factor can be replaced now, or later. */
  mayReplaceFactor: boolean;
  /** The access rule closes the application to the account, or to this network. */
  isDenied: boolean;
  /** The installation asks for own fields that are empty. */
  isAsked: boolean;
  /** The account will be deleted at the wish of its person, who has not been told in this sign-in. */
  isBeingDeleted: boolean;
}

export type Step =
  | 'identify'
  | 'select-account'
  | 'upstream'
  | 'second-factor'
  | 'enrol'
  | 'approval'
  | 'replace-factor'
  | 'change-password'
  | 'own-fields'
  | 'deletion'
  | 'consent'
  | 'terms'
  | 'choose-group'
  | 'access-denied'
  | 'done';

/** The step whose page is displayed now. */
export function nextStep({ prompt }: Pick<PromptRequest, 'prompt'>, progress: Progress): Step {
  switch (prompt) {
    case 'access':
      return 'access-denied';
    case 'consent':
      return 'consent';
    case 'terms':
      return 'terms';
    case 'group':
      return 'choose-group';
    case 'select_account':
      return 'select-account';
    default:
      return nextSignInStep(progress);
  }
}

/** Steps in which the user sets something up or fills it in, for nothing where the application then denies access. */
const EFFORTS: readonly Step[] = ['change-password', 'enrol', 'own-fields'];

function nextSignInStep(progress: Progress): Step {
  const { isIdentified, missing, isDenied } = progress;
  if (!isIdentified) return 'identify';
  if (missing === 'upstream') return 'upstream';
  // The second factor comes first: an attacker who has only the password must not replace it, nor read on the page of the denial who the
  // person is and what they may open. The same where an administrator has to allow the first factor. Where anyone with the password can set
  // one up, the denial tells an attacker nothing more: it spares the person the work, and begins no session.
  if (missing === 'second-factor') return 'second-factor';
  const next = lastStep(progress);
  return isDenied && missing !== 'approval' && EFFORTS.includes(next) ? 'access-denied' : next;
}

function lastStep({ missing, mustChangePassword, mayReplaceFactor, isAsked, isBeingDeleted }: Progress): Step {
  if (mustChangePassword) return 'change-password';
  if (missing === 'enrolment') return 'enrol';
  if (missing === 'approval') return 'approval';
  if (mayReplaceFactor) return 'replace-factor';
  if (isBeingDeleted) return 'deletion';
  if (isAsked) return 'own-fields';
  return 'done';
}

/** Whether the prompt only demands a stronger sign-in of the same user (RFC 9470); then earlier factors stay proven. */
export function isStepUp({ prompt, reasons }: PromptRequest): boolean {
  return prompt === 'login' && reasons.length > 0 && reasons.every((reason) => ['acr', 'password'].includes(reason));
}
