// The label and explanation of each setting, understandable without documentation.
import type { SettingName } from '../../settings/settings.ts';

export const settingTexts: Record<SettingName, { label: string; text: string }> = {
  session_hours: { label: 'Session, in hours', text: 'How long a sign-in lasts, regardless of use. 1 to 720.' },
  session_idle_minutes: {
    label: 'Unused session, in minutes',
    text: 'A session ends when its user opens no page and no application with it for this long. 5 to 43200.',
  },
  max_sessions_per_user: {
    label: 'Sessions of one user',
    text: 'A sign-in that exceeds the number ends the oldest session. 0: no limit; at most 1000.',
  },
  access_token_minutes: { label: 'Access tokens, in minutes', text: 'How long a token is valid. 1 to 60.' },
  refresh_token_days: {
    label: 'Refresh tokens, in days',
    text: 'How long an application keeps its access while the user is away, however much it uses it. 1 to 365.',
  },
  refresh_token_retry_seconds: {
    label: 'Retry of a refresh, in seconds',
    text: 'How long a used refresh token works again when its answer was lost. 0: never; at most 60.',
  },
  reset_token_minutes: { label: 'Links for a new password, in minutes', text: 'How long a link is valid. 15 to 30.' },
  mfa: { label: 'Second factor', text: 'Required: every user needs one. Off: no user is asked for one.' },
  admin_mfa: {
    label: 'Second factor of administrators',
    text: 'Of every user with a right in Gatehouse. Phishing-resistant: a passkey. Optional: only the setting above applies.',
  },
  first_factor: {
    label: 'First second factor',
    text: 'Open: every user may set one up. Window: only for some days. Approval: an administrator allows each user on their page.',
  },
  first_factor_days: {
    label: 'First second factor, in days',
    text: 'For “window”: days after the account was created, or after every user needs one. Then an administrator allows it. 1 to 90.',
  },
  self_registration: { label: 'Sign-up', text: 'Whether users may create their own account.' },
  outgoing_networks: {
    label: 'Private networks that calls may reach',
    text: 'For logout calls, keys and metadata of applications. One a line, such as 10.0.0.0/8.',
  },
  rate_limits: { label: 'Rate limits', text: 'Off only for load tests: passwords can then be guessed without limit.' },
  denied_networks: {
    label: 'Denied networks',
    text: 'Every request from them is rejected. One a line, such as 192.0.2.0/24.',
  },
  breached_password_lookup: {
    label: 'Ask Have I Been Pwned about new passwords',
    text: 'Five characters of a hash leave this server. The built-in list is always checked.',
  },
  remember_browser_days: {
    label: 'Browsers skip the second factor, in days',
    text: 'Where the user ticks that box. 0: never; at most 30.',
  },
  email_codes: {
    label: 'Codes by e-mail',
    text: 'Users without a second factor enter a code from their mailbox before they set one up, or change their address or password. It never counts as a second factor.',
  },
  sms_gateway: {
    label: 'SMS gateway',
    text: 'JSON such as {"url": "https://sms.example.com/send", "token": "…"}. Empty: no codes by SMS. A token that is left out stays, unless the URL has another origin.',
  },
  new_browser_notice: {
    label: 'Mail about new browsers',
    text: 'To the owner, after a sign-in from an unknown browser.',
  },
  saml_signed_requests: {
    label: 'Signed SAML requests only',
    text: 'From every service provider, whatever its metadata says.',
  },
  sign_out_on_role_change: {
    label: 'Sign out when roles change',
    text: 'A user who gets or loses a role has to sign in again.',
  },
  clock_skew_seconds: {
    label: 'Difference of clocks, in seconds',
    text: 'By how much the clock of a service provider may differ from this one. 0 to 300.',
  },
  username_domains: {
    label: 'Domains of user names',
    text: 'Addresses in these domains may be user names of users with another e-mail address. One a line, such as example.com. List only domains that your organization owns.',
  },
  user_attributes: {
    label: 'Custom attributes of users',
    text: 'A JSON Schema with "type": "object". {}: simple values under any name.',
  },
};
