// What each kind of mail is called in the console.
import type { MailKind } from '../../mail/messages.ts';

export const templateNames: Record<MailKind, string> = {
  invitation: 'Invitation',
  registration: 'Finish signing up',
  'already-registered': 'Sign-up with a known email',
  'verify-email': 'Verify an email',
  'confirm-new-email': 'Confirm a new email',
  'email-taken': 'Email of another account',
  'email-changed': 'Email changed',
  'password-reset': 'Password reset',
  'no-password-here': 'No password to reset',
  'password-changed': 'Password changed',
  unlock: 'Unlock',
  'one-time-code': 'Sign-in code',
  'new-sign-in': 'New browser',
  'factor-changed': 'Two-step verification changed',
  'saml-certificate': 'SAML certificate expires (to application owners)',
  'saml-metadata': 'New SAML metadata (to administrators)',
  'connection-end': 'Secret or certificate expires (to administrators)',
  'integrity-alarm': 'Integrity alarm (to administrators)',
  test: 'Test email',
};
