// The settings on the pages of the console: two groups of tabs, each tab with its boxes. Every setting is on one of them.
import type { SettingName } from '../../settings/settings.ts';
import { type PageText, t } from '../../texts/text.ts';

export interface SettingTab {
  href: string;
  label: PageText;
  /** What the tab is for, in one sentence. */
  lead: PageText;
  boxes: readonly { title: PageText; lead?: PageText; names: readonly SettingName[] }[];
}

export interface SettingGroup {
  title: string;
  tabs: readonly SettingTab[];
}

export const SECURITY: SettingGroup = {
  title: 'Sign-in and security',
  tabs: [
    {
      href: '/admin/security',
      label: 'Methods',
      lead: 'How people can prove who they are, beside passwords and passkeys.',
      boxes: [
        {
          title: 'Codes by SMS',
          lead: 'Without a gateway, no codes are sent by SMS.',
          names: ['sms_gateway'],
        },
        { title: 'Codes by email', names: ['email_codes'] },
      ],
    },
    {
      href: '/admin/security/two-step',
      label: 'Two-step',
      lead: 'Who needs a second step, and how users set it up.',
      boxes: [
        { title: 'Who needs it', names: ['mfa', 'admin_mfa'] },
        { title: 'Set-up', names: ['first_factor', 'first_factor_days'] },
        { title: 'Trusted browsers', names: ['remember_browser_days'] },
      ],
    },
    {
      href: '/admin/security/passwords',
      label: 'Passwords',
      lead: 'What new passwords must meet, and how forgotten ones are reset.',
      boxes: [
        { title: 'New passwords', names: ['breached_password_lookup'] },
        { title: 'Forgotten passwords', names: ['reset_token_minutes'] },
      ],
    },
    {
      href: '/admin/security/sign-up',
      label: 'Sign-up',
      lead: 'Who can create an account.',
      boxes: [{ title: 'New accounts', names: ['self_registration', 'username_domains'] }],
    },
    {
      href: '/admin/security/protection',
      label: 'Protection',
      lead: 'What protects sign-ins from guessing and unwanted networks.',
      boxes: [
        { title: 'Limits', names: ['rate_limits'] },
        { title: 'Blocked networks', names: ['denied_networks'] },
        { title: 'Notices', names: ['new_browser_notice'] },
      ],
    },
  ],
};

export const SETTINGS: SettingGroup = {
  title: 'Settings',
  tabs: [
    {
      href: '/admin/settings',
      label: 'Sessions and tokens',
      lead: 'How long sign-ins, tokens and API keys are valid.',
      boxes: [
        { title: 'Sessions', names: ['session_hours', 'session_idle_minutes', 'max_sessions_per_user'] },
        { title: 'When roles change', names: ['sign_out_on_role_change'] },
        { title: 'Tokens', names: ['access_token_minutes', 'refresh_token_days', 'refresh_token_retry_seconds'] },
        { title: 'API keys', names: ['api_key_max_days'] },
      ],
    },
    {
      href: '/admin/settings/languages',
      label: t('console.languages.tab'),
      lead: t('console.languages.lead'),
      boxes: [{ title: t('console.languages.box'), names: ['default_language', 'languages'] }],
    },
    {
      href: '/admin/settings/network',
      label: 'Network',
      lead: 'Which servers Gatehouse may call.',
      boxes: [{ title: 'Outgoing calls', names: ['outgoing_networks'] }],
    },
    {
      href: '/admin/settings/saml',
      label: 'SAML',
      lead: 'What applies to all SAML applications.',
      boxes: [{ title: 'Service providers', names: ['saml_signed_requests', 'clock_skew_seconds'] }],
    },
    {
      href: '/admin/settings/attributes',
      label: 'User attributes',
      lead: 'Which attributes users have beside their profile.',
      boxes: [
        {
          title: 'Custom attributes',
          lead: 'What accounts have in addition to the standard profile. Set the values on each user’s page.',
          names: ['user_attributes'],
        },
      ],
    },
    {
      href: '/admin/settings/system',
      label: 'System',
      lead: 'How this server was started: values of its environment, to read only.',
      boxes: [],
    },
  ],
};
