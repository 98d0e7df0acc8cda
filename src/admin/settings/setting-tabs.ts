// The settings on the pages of the console: two groups of tabs, each tab with its boxes. Every setting is on one of them.

import { type PageText, t } from '../../base/texts/text.ts';
import type { SettingName } from '../../core/settings/settings.ts';

export interface SettingTab {
  href: string;
  label: PageText;
  /** What the tab is for, in one sentence. */
  lead: PageText;
  /** Other pages about the same. */
  links?: readonly { label: PageText; href: string }[];
  boxes: readonly { title: PageText; lead?: PageText; names: readonly SettingName[] }[];
}

export interface SettingGroup {
  title: PageText;
  tabs: readonly SettingTab[];
}

export const SECURITY: SettingGroup = {
  title: t('console.navigation.security'),
  tabs: [
    {
      href: '/admin/security',
      label: t('console.settings.tab.methods'),
      lead: t('console.settings.tab.methods.lead'),
      boxes: [
        {
          title: t('console.settings.box.sms'),
          lead: t('console.settings.box.sms.lead'),
          names: ['sms_gateway'],
        },
        { title: t('console.settings.box.email-codes'), names: ['email_codes'] },
      ],
    },
    {
      href: '/admin/security/two-step',
      label: t('console.settings.tab.two-step'),
      lead: t('console.settings.tab.two-step.lead'),
      boxes: [
        { title: t('console.settings.box.who'), names: ['mfa', 'admin_mfa'] },
        { title: t('console.settings.box.set-up'), names: ['first_factor', 'first_factor_days'] },
        { title: t('console.settings.box.trusted-browsers'), names: ['remember_browser_days'] },
      ],
    },
    {
      href: '/admin/security/passwords',
      label: t('console.settings.tab.passwords'),
      lead: t('console.settings.tab.passwords.lead'),
      boxes: [
        { title: t('console.settings.box.new-passwords'), names: ['breached_password_lookup'] },
        { title: t('console.settings.box.forgotten-passwords'), names: ['reset_token_minutes'] },
      ],
    },
    {
      href: '/admin/security/sign-up',
      label: t('console.settings.tab.sign-up'),
      lead: t('console.settings.tab.sign-up.lead'),
      links: [{ label: t('console.sign-up-codes.title'), href: '/admin/security/sign-up-codes' }],
      boxes: [
        {
          title: t('console.settings.box.new-accounts'),
          names: ['self_registration', 'sign_up_domains', 'sign_up_code_required', 'username_domains'],
        },
      ],
    },
    {
      href: '/admin/security/protection',
      label: t('console.settings.tab.protection'),
      lead: t('console.settings.tab.protection.lead'),
      boxes: [
        { title: t('console.settings.box.limits'), names: ['rate_limits'] },
        { title: t('console.settings.box.blocked-networks'), names: ['denied_networks'] },
        { title: t('console.settings.box.notices'), names: ['new_browser_notice'] },
      ],
    },
  ],
};

export const SETTINGS: SettingGroup = {
  title: t('console.navigation.settings'),
  tabs: [
    {
      href: '/admin/settings',
      label: t('console.settings.tab.sessions'),
      lead: t('console.settings.tab.sessions.lead'),
      boxes: [
        {
          title: t('console.settings.box.sessions'),
          names: ['session_hours', 'session_idle_minutes', 'max_sessions_per_user'],
        },
        { title: t('console.settings.box.role-changes'), names: ['sign_out_on_role_change'] },
        {
          title: t('console.settings.box.tokens'),
          names: ['access_token_minutes', 'refresh_token_days', 'refresh_token_retry_seconds', 'signing_algorithms'],
        },
        { title: t('console.settings.box.api-keys'), names: ['api_key_max_days'] },
      ],
    },
    {
      href: '/admin/settings/languages',
      label: t('console.languages.tab'),
      lead: t('console.languages.lead'),
      links: [
        { label: t('console.navigation.branding'), href: '/admin/branding' },
        { label: t('console.languages.texts'), href: '/admin/branding/texts' },
      ],
      boxes: [{ title: t('console.languages.box'), names: ['default_language', 'languages'] }],
    },
    {
      href: '/admin/settings/network',
      label: t('console.settings.tab.network'),
      lead: t('console.settings.tab.network.lead'),
      boxes: [{ title: t('console.settings.box.outgoing'), names: ['outgoing_networks'] }],
    },
    {
      href: '/admin/settings/saml',
      label: t('console.settings.tab.saml'),
      lead: t('console.settings.tab.saml.lead'),
      boxes: [
        { title: t('console.settings.box.service-providers'), names: ['saml_signed_requests', 'clock_skew_seconds'] },
      ],
    },
    {
      href: '/admin/settings/attributes',
      label: t('console.settings.tab.attributes'),
      lead: t('console.settings.tab.attributes.lead'),
      boxes: [
        {
          title: t('console.settings.box.attributes'),
          lead: t('console.settings.box.attributes.lead'),
          names: ['user_attributes'],
        },
      ],
    },
    {
      href: '/admin/settings/system',
      label: t('console.settings.tab.system'),
      lead: t('console.settings.tab.system.lead'),
      boxes: [],
    },
  ],
};
