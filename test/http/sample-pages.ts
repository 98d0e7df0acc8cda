// One sample or more of every page: the tests render them, and a browser looks at them.
import { waitText } from '../../src/base/texts/dates.ts';
import { sentences, t } from '../../src/base/texts/text.ts';
import { accountPages, sampleApp } from './account-pages.ts';
import { consolePages } from './console-page.ts';

const alice = { name: 'Alice Example', username: 'alice', email: 'alice@example.com' };
const foot = { who: 'alice', cancelAction: '/signin/u1/cancel', appName: 'Wiki' };
const error = {
  status: 404,
  title: 'Not Found',
  message: t('error.not_found'),
  advice: t('error.not_found.advice'),
  code: 'not_found',
  fields: [],
  requestId: 'tFJX8YJrN1Fh2q3c',
};
const terms = {
  version: '2026-11',
  documents: [
    { kind: 'terms', href: 'https://example.com/terms' },
    { kind: 'privacy', href: 'https://example.com/privacy' },
  ],
};
const termsPage = { action: '/signin/u1/terms', stepUrl: '/signin/u1', terms, account: alice, before: null, ...foot };
export const samplePages: Record<string, [string, object]> = {
  error404: ['error', error],
  errorRequest: [
    'error',
    {
      ...error,
      status: 400,
      title: 'Bad Request',
      message: t('app-error.invalid-redirect-uri'),
      advice: t('app-error.advice', { app: 'Wiki' }),
      rejectionCode: 'K7F3-2Q9M',
      technical: [
        { label: t('error-page.error'), value: 'invalid_redirect_uri' },
        {
          label: t('error-page.description'),
          value: "redirect_uri did not match any of the client's registered redirect_uris",
        },
      ],
    },
  ],
  errorCsrf: [
    'error',
    {
      ...error,
      status: 403,
      title: 'Forbidden',
      message: t('error.csrf_failed'),
      advice: t('error.csrf_failed.advice'),
      next: { href: '/x', label: t('error.back-to-form') },
      other: { href: '/dashboard', label: t('page.your-apps') },
    },
  ],
  errorFields: [
    'error',
    {
      ...error,
      status: 400,
      title: 'Bad Request',
      message: t('error.invalid_input'),
      advice: t('error.invalid_input.advice'),
      fields: [
        { field: 'username', message: 'Too long' },
        { field: 'users.0.email', message: 'Invalid email address' },
      ],
    },
  ],
  dashboard: [
    'account/portal',
    {
      account: alice,
      search: '',
      tiles: [
        { name: 'Wiki', url: '/saml/sso/start?sp=x', isRecent: true },
        { name: 'Grafana', url: 'https://grafana.example.com/login', isRecent: false },
      ],
      notices: [
        { text: t('recovery-codes.few', { count: 2 }), href: '/account/factors', label: t('recovery-codes.create') },
      ],
    },
  ],
  rejected: [
    'sign-in/access-denied',
    {
      action: '/signin/u1/account',
      appName: 'Wiki',
      closed: 'Wiki',
      account: alice,
      rejectionCode: 'K7F3-2Q9M',
      requestId: 'tFJX8YJrN1Fh2q3c',
    },
  ],
  chooseGroup: [
    'sign-in/choose-group',
    {
      action: '/signin/u1/group',
      otherAction: '/signin/u1/account',
      appName: 'CRM',
      account: alice,
      choices: [
        { id: 'g1', name: 'Acme' },
        { id: 'g2', name: 'Globex International Manufacturing and Trading Company' },
      ],
    },
  ],
  terms: ['sign-in/terms', { ...termsPage, isDeclined: false }],
  termsAgain: ['sign-in/terms', { ...termsPage, isDeclined: false, before: '2026-05' }],
  termsDeclined: ['sign-in/terms', { ...termsPage, isDeclined: true }],
  rejectedAsk: [
    'sign-in/access-denied',
    {
      action: '/signin/u1/account',
      appName: 'Wiki',
      closed: 'Wiki',
      account: alice,
      ask: { href: '/account/groups/ask?application=wiki', isOpen: false },
      rejectionCode: 'K7F3-2Q9M',
      requestId: 'tFJX8YJrN1Fh2q3c',
    },
  ],
  rejectedAsked: [
    'sign-in/access-denied',
    {
      action: '/signin/u1/account',
      appName: 'Wiki',
      closed: 'Wiki',
      account: alice,
      ask: { href: '/account/groups/ask?application=wiki', isOpen: true },
      rejectionCode: 'K7F3-2Q9M',
      requestId: 'tFJX8YJrN1Fh2q3c',
    },
  ],
  passkeyStep: [
    'sign-in/passkey',
    {
      passkey: {
        action: '/signin/u1/passkey',
        mode: 'get',
        options: '{"challenge":"AAAA"}',
        label: t('second-factor.passkey'),
        isPrimary: true,
      },
      others: [{ href: '/signin/u1?method=totp', label: t('second-factor.use-totp') }],
      ...foot,
    },
  ],
  upstreamStep: [
    'sign-in/upstream-factor',
    {
      action: '/signin/u1/connections/corp',
      name: 'Example Corp',
      others: [{ href: '/signin/u1?method=totp', label: t('second-factor.use-totp') }],
      ...foot,
    },
  ],
  enrol: [
    'sign-in/enrol',
    {
      title: t('enrol.set-up'),
      lead: t('enrol.reason', { who: 'app', app: 'Grafana', what: 'two-step' }),
      passkey: {
        action: '/signin/u1/enrol-passkey',
        mode: 'create',
        options: '{}',
        name: t('passkey.default-name'),
        label: t('enrol.set-up-passkey'),
      },
      totp: { ...sampleApp, action: '/signin/u1/enrol-totp' },
      ...foot,
    },
  ],
  replaceFactor: [
    'sign-in/enrol',
    {
      title: t('replace-factor.title'),
      lead: t('replace-factor.lead'),
      notice: t('recovery-codes.left', { count: 7 }),
      passkey: {
        action: '/signin/u1/enrol-passkey',
        mode: 'create',
        options: '{}',
        name: t('passkey.default-name'),
        label: t('enrol.set-up-passkey'),
      },
      totp: { ...sampleApp, action: '/signin/u1/enrol-totp' },
      keep: { action: '/signin/u1/keep-factors', label: t('replace-factor.keep') },
      ...foot,
    },
  ],
  noFactor: ['sign-in/no-factor', { lead: t('no-factor.lead', { user: 'alice' }), backHref: '/signin/u1', ...foot }],
  identify: [
    'sign-in/identify',
    {
      action: '/signin/abc/password',
      appName: 'Wiki',
      policyUrl: 'https://wiki.example.com/privacy',
      termsUrl: 'https://wiki.example.com/terms',
      forgotPasswordUrl: '/forgot-password',
      registerUrl: '/sign-up',
      cancelAction: '/signin/abc/cancel',
      passkey: { action: '/x', mode: 'autofill', options: '{}', label: t('sign-in.with-passkey') },
    },
  ],
  identifyLongName: [
    'sign-in/identify',
    { action: '/signin/abc/password', appName: 'W'.repeat(255), cancelAction: '/signin/abc/cancel' },
  ],
  identifyError: [
    'sign-in/identify',
    {
      action: '/signin/abc/password',
      appName: 'Wiki',
      loginHint: 'alice@example.com',
      error: t('sign-in.wrong-password'),
      forgotPasswordUrl: '/forgot-password',
      registerUrl: '/sign-up',
    },
  ],
  identifyPaused: [
    'sign-in/identify',
    {
      action: '/signin/abc/password',
      appName: 'Wiki',
      loginHint: 'alice@example.com',
      error: t('sign-in.too-many-tries', { time: waitText(240) }),
      next: { href: '/unlock/ask?signin=abc', label: t('unlock.by-email') },
      forgotPasswordUrl: '/forgot-password',
    },
  ],
  errorDenied: [
    'error',
    {
      ...error,
      status: 403,
      title: 'Forbidden',
      message: t('error.address_denied'),
      advice: t('error.address_denied.advice'),
    },
  ],
  changePassword: [
    'sign-in/change-password',
    { action: '/x', username: 'alice', minLength: 15, reason: t('change-password.reason'), ...foot },
  ],
  ownFields: [
    'sign-in/own-fields',
    {
      action: '/x',
      fields: [
        { name: 'attributes.badge', label: 'Badge', lines: 1, value: '', hint: t('profile.mask', { mask: 'A-99' }) },
        { name: 'attributes.size', label: 'Size', lines: 1, value: 'S', choices: [{ tag: 'S', name: 'S' }] },
      ],
      error: t('profile.not-number'),
      ...foot,
    },
  ],
  picture: ['account/picture', { account: alice, size: 200 }],
  changePasswordError: [
    'sign-in/change-password',
    {
      action: '/x',
      username: 'alice',
      minLength: 15,
      reason: t('change-password.reason'),
      error: t('password.breached'),
    },
  ],
  consent: [
    'sign-in/consent',
    {
      action: '/x',
      appName: 'Field Notes',
      appUrl: 'https://notes.example.com/',
      appHost: 'notes.example.com',
      policyUrl: 'https://notes.example.com/privacy',
      termsUrl: 'https://notes.example.com/terms',
      account: alice,
      isOffline: true,
      days: 90,
      scopes: [
        { name: 'openid', label: t('consent.scope-openid') },
        { name: 'profile', label: t('consent.scope-profile'), values: ['Alice Example', 'alice'] },
        { name: 'email', label: t('consent.scope-email'), values: ['alice@example.com'] },
      ],
      resources: [{ name: 'Articles API', scopes: ['articles:read', 'articles:write'] }],
    },
  ],
  consentLongName: [
    'sign-in/consent',
    {
      action: '/x',
      appName: 'W'.repeat(255),
      account: alice,
      scopes: [{ name: 'openid', label: t('consent.scope-openid') }],
    },
  ],
  selectAccount: ['sign-in/select-account', { action: '/x', appName: 'Wiki', account: alice }],
  suggestedAccount: [
    'sign-in/select-account',
    { action: '/x', appName: 'Wiki', account: alice, hint: 'bob@example.com' },
  ],
  logoutRejected: [
    'saml/logout-rejected',
    {
      appName: 'Wiki',
      account: alice,
      error: t('logout.other-session', { app: 'Wiki' }),
      back: { action: 'https://wiki.example.com/slo', message: { SAMLResponse: 'PHNhbWw' } },
      rejectionCode: 'K7F3-2Q9M',
      requestId: 'tFJX8YJrN1Fh2q3c',
    },
  ],
  unmet: [
    'saml/unmet',
    {
      action: 'https://wiki.example.com/acs',
      message: { SAMLResponse: 'PHNhbWw', RelayState: 'x' },
      appName: 'Wiki',
      reason: t('unmet.password', { app: 'Wiki' }),
      account: alice,
      rejectionCode: 'K7F3-2Q9M',
      requestId: 'tFJX8YJrN1Fh2q3c',
    },
  ],
  secondFactor: [
    'sign-in/second-factor',
    {
      action: '/x',
      hint: t('second-factor.totp-hint'),
      isNumeric: true,
      rememberDays: 30,
      others: [
        { href: '/y', label: t('second-factor.use-passkey') },
        { href: '/z', label: t('second-factor.use-recovery-code') },
      ],
      ...foot,
    },
  ],
  secondFactorError: [
    'sign-in/second-factor',
    {
      action: '/x',
      hint: t('second-factor.totp-hint'),
      isNumeric: true,
      error: t('second-factor.wrong-code'),
    },
  ],
  signOutConfirm: [
    'logout/confirm',
    {
      action: '/x',
      appName: 'Wiki',
      account: alice,
      apps: ['Wiki', 'Field Notes'],
      hidden: [{ name: 'xsrf', value: 'abc' }],
    },
  ],
  signOutDone: [
    'logout/done',
    {
      appName: 'Wiki',
      returnUrl: 'https://wiki.example.com',
      isOpen: true,
      results: [
        { app: 'Wiki', text: t('logout.app-initiator'), isOpen: false },
        { app: 'Payroll', text: t('logout.app-done'), isOpen: false },
        { app: 'Chat', text: t('logout.app-notified'), isOpen: false },
        {
          app: 'Field Notes',
          text: sentences([t('logout.failed-no-answer'), t('logout.failed-advice')]),
          isOpen: true,
        },
        {
          app: 'Archive of the Municipal Library of Upper Example',
          text: t('logout.app-unsupported'),
          isOpen: true,
        },
      ],
    },
  ],
  signOutProgress: [
    'logout/progress',
    {
      next: '/x',
      afterSeconds: 600,
      app: 'Payroll',
      results: [
        { app: 'Wiki', text: t('logout.app-done'), isOpen: false },
        { app: 'Payroll', text: t('logout.app-sent'), isOpen: false },
        { app: 'Library', text: t('logout.app-waiting'), isOpen: false },
      ],
    },
  ],
  signOutLeaveFrame: ['logout/leave-frame', { next: '/x' }],
  signOutAskUpstream: [
    'logout/ask-upstream',
    {
      action: '/signout/x',
      name: 'Example Corp',
      results: [
        { app: 'Wiki', text: t('logout.app-done'), isOpen: false },
        { app: 'Example Corp', text: t('logout.app-retrying'), isOpen: true },
      ],
    },
  ],
  signOutDonePlain: ['logout/done', {}],
  signOutStayed: ['logout/done', { isSignedIn: true }],
  signOutRejected: [
    'logout/confirm',
    {
      action: '/end-session/confirm',
      account: { name: 'Alice Example', username: 'alice', email: 'alice@example.com' },
      apps: ['Payroll', 'Wiki'],
      error: t('app-error.id-token-hint'),
      rejectionCode: 'K7Q2-9FXM',
      requestId: 'VkQ0c3RhcnQ',
      technical: [{ label: 'id_token_hint', value: 'exp' }],
    },
  ],
  deviceEnter: ['device/enter-code', { action: '/x' }],
  deviceEnterError: ['device/enter-code', { action: '/x', userCode: 'ABCD-EFGH', error: t('device.failed') }],
  deviceConfirm: [
    'device/confirm',
    { action: '/x', appName: 'Living room TV', userCode: 'WDJB-MJHT', address: '192.0.2.17', browser: 'TV app 4.2' },
  ],
  deviceDone: ['device/done', { isConnected: true, appName: 'Living room TV' }],
  deviceDenied: ['device/done', { isConnected: false }],
  formPost: [
    'form-post',
    { action: 'https://wiki.example.com/acs', fields: { SAMLResponse: 'PHNhbWw', RelayState: 'x' }, appName: 'Wiki' },
  ],
  forgotPassword: [
    'mailed-links/request',
    {
      title: t('reset.title'),
      lead: t('reset.lead'),
      action: '/forgot-password',
      button: t('mailed-link.send'),
      back: { href: '/account', label: t('mailed-link.back') },
    },
  ],
  mailSent: [
    'mailed-links/message',
    {
      title: t('mailed-link.sent'),
      lead: t('reset.sent', { minutes: 20 }),
      hint: t('reset.sent-hint'),
      other: { href: '/forgot-password', label: t('reset.other') },
    },
  ],
  passwordChanged: [
    'mailed-links/message',
    {
      title: t('reset.done'),
      lead: t('reset.done-lead'),
      hint: t('reset.done-hint'),
      next: { href: '/account', label: t('sign-in.submit') },
      other: { href: '/account', label: t('reset.review') },
    },
  ],
  newPassword: ['mailed-links/new-password', { action: '/reset-password', username: 'alice', minLength: 15 }],
  newPasswordError: [
    'mailed-links/new-password',
    {
      title: t('invitation.title'),
      lead: t('invitation.lead'),
      action: '/invitation',
      username: 'alice',
      minLength: 15,
      error: t('password.contains_name'),
      terms,
    },
  ],
  confirmEmail: [
    'mailed-links/confirm',
    {
      title: t('verify-email.use'),
      lead: t('verify-email.use-lead'),
      value: 'alice@example.org',
      action: '/verify-email',
      button: t('verify-email.use-submit'),
    },
  ],
  register: ['registration/request', { action: '/sign-up', signInUrl: '/account' }],
  registerError: [
    'registration/request',
    {
      action: '/sign-up',
      signInUrl: '/account',
      email: 'alice@',
      error: t('registration.invalid-email'),
    },
  ],
  registerFinish: ['registration/finish', { action: '/sign-up/finish', email: 'alice@example.com', minLength: 15 }],
  registerTerms: [
    'registration/finish',
    { action: '/sign-up/finish', email: 'alice@example.com', minLength: 15, terms },
  ],
  joinGroup: [
    'registration/finish',
    {
      title: t('join.title', { group: 'Lab' }),
      lead: t('join.lead', { person: 'bob', group: 'Lab', form: 'until', until: new Date('2099-07-31T23:59:59Z') }),
      hint: t('join.have-account'),
      action: '/join/register',
      email: 'alice@example.com',
      minLength: 15,
    },
  ],
  mailLink: [
    'mail/mail',
    {
      subject: t('mail.reset.subject'),
      preheader: t('mail.valid-minutes', { minutes: 20 }),
      paragraphs: [
        t('mail.hello-name', { name: 'Alice Example' }),
        t('mail.reset.text', { known: 'yes', user: 'alice', minutes: 20 }),
      ],
      action: { label: t('mail.reset.action'), url: 'https://id.example.com/reset-password?token=a'.padEnd(88, 'b') },
      after: [t('mail.reset.after')],
      sender: 'Gatehouse',
      service: 'id.example.com',
    },
  ],
  mailNotice: [
    'mail/mail',
    {
      subject: t('mail.new-sign-in.subject'),
      preheader: 'November 21, 2026 at 10:09 AM UTC',
      paragraphs: [
        t('mail.hello-name', { name: 'Alice Example' }),
        t('mail.new-sign-in.text', { known: 'yes', user: 'alice' }),
      ],
      facts: [
        { label: t('mail.when'), value: 'November 21, 2026 at 10:09 AM UTC' },
        { label: t('mail.browser'), value: t('browser.on', { browser: 'Firefox', system: 'Windows' }) },
        { label: t('mail.address'), value: '2001:db8:85a3::8a2e:370:7334' },
      ],
      action: { label: t('mail.reset-action'), url: 'https://id.example.com/forgot-password' },
      after: [t('mail.not-you.after')],
      sender: 'Gatehouse',
      service: 'id.example.com',
    },
  ],
  mailCode: [
    'mail/mail',
    {
      subject: t('mail.code.subject'),
      preheader: t('mail.code.preheader', { minutes: 10 }),
      paragraphs: [t('mail.hello'), t('mail.code.text', { host: 'id.example.com' })],
      code: '204 815',
      after: [t('mail.code.after')],
      sender: 'Gatehouse',
      service: 'id.example.com',
    },
  ],
  home: [
    'home',
    {
      issuer: 'https://id.example.com',
      discoveryUrl: 'https://id.example.com/.well-known/openid-configuration',
      samlMetadataUrl: 'https://id.example.com/saml/metadata',
    },
  ],
  ...accountPages,
  ...consolePages,
  apiDocs: [
    'api/docs',
    {
      issuer: 'https://id.example.com',
      groups: [
        {
          tag: 'users',
          operations: [
            {
              id: 'listUsers',
              method: 'GET',
              path: '/users',
              summary: 'People',
              needs: ['users:read'],
              parameters: [{ name: 'limit', in: 'query', required: false, type: 'integer' }],
              body: [],
              status: 200,
              answer: 'UserList',
            },
          ],
        },
      ],
      schemas: [{ name: 'User', fields: [{ name: 'id', type: 'string', required: true }] }],
    },
  ],
};
