// What each setting is called and does, for people who have no document open.
import type { SettingName } from '../../settings.ts';

export const settingTexts: Record<SettingName, { label: string; text: string }> = {
  session_hours: { label: 'Session, in hours', text: 'How long a sign-in lasts, however much it is used. 1 to 720.' },
  access_token_minutes: { label: 'Access tokens, in minutes', text: 'How long one works. 1 to 60.' },
  reset_token_minutes: { label: 'Links for a new password, in minutes', text: 'How long one works. 15 to 30.' },
  mfa: { label: 'Second factor', text: 'Required: everybody needs one. Off: nobody is asked for one.' },
  self_registration: { label: 'Sign-up', text: 'Whether people may make their own account.' },
  outgoing_networks: {
    label: 'Private networks that calls may reach',
    text: 'For sign-out calls, keys and metadata of applications. One a line, such as 10.0.0.0/8.',
  },
  rate_limits: { label: 'Limits on guessing', text: 'Off only for load tests: anybody may guess passwords then.' },
  denied_networks: {
    label: 'Networks that are shut out',
    text: 'They get nothing at all. One a line, such as 192.0.2.0/24.',
  },
  breached_password_lookup: {
    label: 'Ask Have I Been Pwned about new passwords',
    text: 'Five characters of a hash leave this server. The built-in list is always asked.',
  },
  remember_browser_days: {
    label: 'Browsers skip the second factor, in days',
    text: 'Where people tick that box. 0: never; at most 30.',
  },
  email_codes: { label: 'Codes by e-mail', text: 'As second factor of people who have no other.' },
  sms_gateway: {
    label: 'SMS gateway',
    text: 'JSON such as {"url": "https://sms.example.com/send", "token": "…"}. Empty: no codes by SMS.',
  },
  new_browser_notice: {
    label: 'Mail about new browsers',
    text: 'To the owner, after a sign-in from one not seen before.',
  },
  saml_signed_requests: {
    label: 'Signed SAML requests only',
    text: 'From every service provider, whatever it says itself.',
  },
  sign_out_on_role_change: { label: 'Sign out when roles change', text: 'Whoever gets or loses a role signs in anew.' },
  clock_skew_seconds: {
    label: 'Difference of clocks, in seconds',
    text: 'By how much the clock of a service provider may differ from this one. 0 to 300.',
  },
  user_attributes: {
    label: 'Custom attributes of users',
    text: 'A JSON Schema with "type": "object". {}: simple values under any name.',
  },
};
