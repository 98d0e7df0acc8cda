// The label and explanation of each setting, understandable without documentation. The range and the default follow from its schema.
import type { SettingName } from '../../settings/settings.ts';
import type { LanguageSetting } from './language-fields.ts';

export interface SettingText {
  label: string;
  text: string;
  /** Beside a number. */
  unit?: string;
  /** Of a choice: what each value means. */
  choices?: Record<string, { label: string; hint: string }>;
}

export const settingTexts: Record<Exclude<SettingName, LanguageSetting>, SettingText> = {
  session_hours: {
    label: 'Session length',
    unit: 'hours',
    text: 'People sign in again after this time, even when they are active.',
  },
  session_idle_minutes: {
    label: 'Idle time',
    unit: 'minutes',
    text: 'A session ends when its owner opens no page and no application with it for this long.',
  },
  max_sessions_per_user: {
    label: 'Sessions per user',
    unit: 'sessions',
    text: 'A further sign-in ends the oldest session. 0 means no limit.',
  },
  access_token_minutes: {
    label: 'Access token lifetime',
    unit: 'minutes',
    text: 'Applications renew an access token with a refresh token.',
  },
  refresh_token_days: {
    label: 'Refresh token lifetime',
    unit: 'days',
    text: 'How long an application keeps its access while the user is away, however often it uses it.',
  },
  refresh_token_retry_seconds: {
    label: 'Retry with a used refresh token',
    unit: 'seconds',
    text: 'An application that didn’t receive the response can use its refresh token again for this long. 0 means never.',
  },
  api_key_max_days: {
    label: 'Longest lifetime of an API key',
    unit: 'days',
    text: 'Applies to new API keys. Existing keys keep their expiry date.',
  },
  reset_token_minutes: {
    label: 'Password link lifetime',
    unit: 'minutes',
    text: 'A link for a new password is valid for this long, and works once.',
  },
  mfa: {
    label: 'Two-step verification',
    text: 'Applications and the setting for administrators can require more.',
    choices: {
      required: { label: 'Required', hint: 'Every user sets up a second step.' },
      optional: { label: 'Optional', hint: 'Users who set up a second step confirm each sign-in with it.' },
      off: { label: 'Off', hint: 'Users aren’t asked for a second step, unless an application requires it.' },
    },
  },
  admin_mfa: {
    label: 'Two-step verification of administrators',
    text: 'For every user with a permission in Gatehouse.',
    choices: {
      required: { label: 'Required', hint: 'Any second step.' },
      'phishing-resistant': { label: 'Passkey required', hint: 'A passkey with user verification.' },
      optional: { label: 'As for everyone', hint: 'Only the setting above applies.' },
    },
  },
  first_factor: {
    label: 'First two-step setup',
    text: 'Who can set up two-step verification for the first time with only a password.',
    choices: {
      open: { label: 'Every user', hint: 'At any time.' },
      window: { label: 'New users', hint: 'For a few days. After that, an administrator must allow it.' },
      approval: { label: 'With approval', hint: 'An administrator must allow it for each user.' },
    },
  },
  first_factor_days: {
    label: 'Days for new users',
    unit: 'days',
    text: 'After the account was created, or after two-step verification became required.',
  },
  self_registration: { label: 'Sign-up', text: 'People can create their own account.' },
  outgoing_networks: {
    label: 'Private networks',
    text: 'Networks that the server can call for logouts, keys and metadata, one per line, such as 10.0.0.0/8. Public addresses are always allowed.',
  },
  rate_limits: {
    label: 'Sign-in rate limits',
    text: 'Turn them off for load tests only: without limits, passwords can be guessed.',
  },
  denied_networks: {
    label: 'Blocked networks',
    text: 'Every request from them is rejected. One per line, such as 192.0.2.0/24.',
  },
  breached_password_lookup: {
    label: 'Check new passwords for known breaches',
    text: 'Sends five characters of a hash to Have I Been Pwned. The built-in list is always checked.',
  },
  remember_browser_days: {
    label: 'Trusted browsers',
    unit: 'days',
    text: 'Users can skip the second step in their browser for this long. 0 means never.',
  },
  email_codes: {
    label: 'Codes by email',
    text: 'Users without a second step enter a code from their mailbox before they set one up, or change their email or password. A code by email never counts as a second step.',
  },
  sms_gateway: {
    label: 'SMS gateway',
    text: 'JSON such as {"url": "https://sms.example.com/send", "token": "…"}. Leave it empty for no codes by SMS. A token that is left out stays, unless the URL has another origin.',
  },
  new_browser_notice: {
    label: 'Email about new browsers',
    text: 'Sent to the owner after a sign-in from an unknown browser.',
  },
  saml_signed_requests: {
    label: 'Signed requests only',
    text: 'Reject unsigned requests of every service provider, whatever its metadata says.',
  },
  sign_out_on_role_change: {
    label: 'Sign people out when their roles change',
    text: 'Applications then receive the new roles at the next sign-in.',
  },
  clock_skew_seconds: {
    label: 'Allowed clock skew',
    unit: 'seconds',
    text: 'How much the clock of a service provider can differ from the clock of this server.',
  },
  username_domains: {
    label: 'Domains of usernames',
    text: 'Addresses in these domains can be usernames of users with another email. One per line, such as example.com. List only domains that your organization owns.',
  },
  brand_applications: {
    label: 'Brands of applications',
    text: 'What the pages of an application have in place of the brand.',
  },
  brand_name: {
    label: 'Name',
    text: 'Replaces “Gatehouse” on the pages and in the emails for people, such as with the name of your organization.',
  },
  brand_color: {
    label: 'Color',
    text: 'For buttons and links. Gatehouse makes it lighter or darker where it would be hard to read, in light and dark mode.',
  },
  brand_logo: {
    label: 'Logo',
    text: 'Replaces the name. A wide picture without a margin looks best: PNG, JPEG, WebP or SVG, up to 200 KB.',
  },
  brand_logo_dark: { label: 'Logo for dark mode', text: 'Without one, dark pages use the same logo.' },
  brand_icon: {
    label: 'Icon',
    text: 'The icon in the browser tab. A square picture, such as an SVG or a PNG with 64 × 64 pixels, up to 200 KB.',
  },
  brand_background: {
    label: 'Background',
    text: 'A picture behind the sign-in form, on wide screens. It is cropped to fill the window. PNG, JPEG, WebP or SVG, up to 200 KB.',
  },
  brand_help_url: { label: 'Help', text: 'URL of a page where people get help.' },
  brand_privacy_url: { label: 'Privacy', text: 'URL of your privacy policy.' },
  brand_terms_url: { label: 'Terms', text: 'URL of your terms of service or legal notice.' },
  user_attributes: {
    label: 'Attribute schema',
    text: 'A JSON Schema with "type": "object". {} allows simple values under any name.',
  },
};
