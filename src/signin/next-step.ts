// The order of a sign-in as one pure function. Every step returns to the dispatcher, which asks here what comes next;
// no step leads to another by itself, so none can be skipped.

/** What the engine asks for: its prompt, and why. */
export interface Question {
  prompt: string;
  reasons: string[];
}

export interface Progress {
  /** First factor proven, or carried over from the session that is being stepped up. */
  isIdentified: boolean;
  mustChangePassword: boolean;
  /** What the policy, the application or the requested context still wants. */
  missing: 'nothing' | 'second-factor' | 'enrolment';
}

export type Step =
  | 'identify'
  | 'select-account'
  | 'second-factor'
  | 'enrol'
  | 'change-password'
  | 'consent'
  | 'refused'
  | 'done';

export function nextStep({ prompt }: Question, progress: Progress): Step {
  switch (prompt) {
    case 'access':
      return 'refused';
    case 'consent':
      return 'consent';
    case 'select_account':
      return 'select-account';
    default:
      return nextSignInStep(progress);
  }
}

function nextSignInStep({ isIdentified, missing, mustChangePassword }: Progress): Step {
  if (!isIdentified) return 'identify';
  // The second factor first: whoever has only the password must not be able to replace it.
  if (missing === 'second-factor') return 'second-factor';
  if (mustChangePassword) return 'change-password';
  if (missing === 'enrolment') return 'enrol';
  return 'done';
}

/** Whether the question is only about a stronger sign-in of the same person: then what was proven stays proven. */
export function isStepUp({ prompt, reasons }: Question): boolean {
  return (
    prompt === 'login' &&
    reasons.length > 0 &&
    reasons.every((reason) => ['acr', 'essential_acr', 'password'].includes(reason))
  );
}
