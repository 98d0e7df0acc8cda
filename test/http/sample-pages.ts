// One sample or more of every page: the tests render them, and a browser looks at them.
import { accountPages, sampleApp } from './account-pages.ts';
import { consolePages } from './console-page.ts';

const alice = { name: 'Alice Example', username: 'alice', email: 'alice@example.com' };
const foot = { who: 'alice', cancelAction: '/signin/u1/cancel', appName: 'Wiki' };
const error = {
  status: 404,
  title: 'Not Found',
  message: 'Page not found',
  advice: 'Check the link, or go back to the previous page.',
  code: 'not_found',
  fields: [],
  requestId: 'tFJX8YJrN1Fh2q3c',
};
export const samplePages: Record<string, [string, object]> = {
  error404: ['error', error],
  errorRequest: [
    'error',
    {
      ...error,
      status: 400,
      title: 'Bad Request',
      message: 'The app tried to send you to an address that isn’t registered for it.',
      advice: 'Go back to Wiki and try again. If it happens again, contact its administrator.',
      rejectionCode: 'K7F3-2Q9M',
      technical: [
        { label: 'Error', value: 'invalid_redirect_uri' },
        { label: 'Description', value: "redirect_uri did not match any of the client's registered redirect_uris" },
      ],
    },
  ],
  errorCsrf: [
    'error',
    {
      ...error,
      status: 403,
      title: 'Forbidden',
      message: 'This form has expired, or your browser blocks its cookie.',
      advice: 'Reload the page and try again. If that doesn’t help, allow cookies for this site.',
      next: { href: '/x', label: 'Back to the form' },
      other: { href: '/dashboard', label: 'Your apps' },
    },
  ],
  errorFields: [
    'error',
    {
      ...error,
      status: 400,
      title: 'Bad Request',
      message: 'Some values are missing or incorrect.',
      advice: 'Correct them and try again.',
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
      notices: [{ text: 'Only 2 recovery codes are left.', href: '/account/factors', label: 'Create new codes' }],
    },
  ],
  refused: [
    'sign-in/access-denied',
    {
      action: '/signin/u1/account',
      appName: 'Wiki',
      account: alice,
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
        label: 'Use passkey',
        isPrimary: true,
      },
      others: [{ href: '/signin/u1?method=totp', label: 'Use an authenticator app' }],
      ...foot,
    },
  ],
  upstreamStep: [
    'sign-in/upstream-factor',
    {
      action: '/signin/u1/connections/corp',
      name: 'Example Corp',
      others: [{ href: '/signin/u1?method=totp', label: 'Use an authenticator app' }],
      ...foot,
    },
  ],
  enrol: [
    'sign-in/enrol',
    {
      title: 'Set up two-step verification',
      lead: 'Grafana requires two-step verification. Setup takes about a minute.',
      passkey: {
        action: '/signin/u1/enrol-passkey',
        mode: 'create',
        options: '{}',
        name: 'My passkey',
        label: 'Set up passkey',
      },
      totp: { ...sampleApp, action: '/signin/u1/enrol-totp' },
      ...foot,
    },
  ],
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
      passkey: { action: '/x', mode: 'autofill', options: '{}', label: 'Sign in with a passkey' },
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
      problem: 'The username or password is incorrect.',
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
      problem: 'Too many attempts. Wait 4 minutes, then try again.',
      next: { href: '/unlock/ask?signin=abc', label: 'Unlock by email' },
      forgotPasswordUrl: '/forgot-password',
    },
  ],
  errorDenied: [
    'error',
    {
      ...error,
      status: 403,
      title: 'Forbidden',
      message: 'Your network is blocked.',
      advice: 'If you need access, send the request ID below to your administrator.',
    },
  ],
  changePassword: [
    'sign-in/change-password',
    { action: '/x', username: 'alice', minLength: 15, reason: 'The one you used was for a single sign-in.', ...foot },
  ],
  changePasswordError: [
    'sign-in/change-password',
    {
      action: '/x',
      username: 'alice',
      minLength: 15,
      reason: 'The one you used was for a single sign-in.',
      problem: 'This password appears in a known data breach. Choose a different one.',
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
      scopes: [
        { name: 'openid', label: 'Sign you in' },
        { name: 'profile', label: 'See your name and username', values: ['Alice Example', 'alice'] },
        { name: 'email', label: 'See your email address', values: ['alice@example.com'] },
      ],
      resources: [{ name: 'Articles API', scopes: ['articles:read', 'articles:write'] }],
    },
  ],
  consentLongName: [
    'sign-in/consent',
    { action: '/x', appName: 'W'.repeat(255), account: alice, scopes: [{ name: 'openid', label: 'Sign you in' }] },
  ],
  selectAccount: ['sign-in/select-account', { action: '/x', appName: 'Wiki', account: alice }],
  secondFactor: [
    'sign-in/second-factor',
    {
      action: '/x',
      hint: 'Enter the code from your authenticator app.',
      isNumeric: true,
      rememberDays: 30,
      others: [
        { href: '/y', label: 'Use a passkey' },
        { href: '/z', label: 'Use a recovery code' },
      ],
      ...foot,
    },
  ],
  secondFactorError: [
    'sign-in/second-factor',
    {
      action: '/x',
      hint: 'Enter the code from your authenticator app.',
      isNumeric: true,
      problem: 'That code is incorrect or was already used. Check it, or wait for the next code.',
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
        { app: 'Wiki', text: 'Started this sign-out.', isOpen: false },
        { app: 'Payroll', text: 'Signed out.', isOpen: false },
        { app: 'Chat', text: 'Notified in this browser. This app doesn’t confirm.', isOpen: false },
        { app: 'Field Notes', text: 'The app didn’t respond. Sign out there, or close your browser.', isOpen: true },
        {
          app: 'Archive of the Municipal Library of Upper Example',
          text: 'This app doesn’t support sign-out from here. Sign out of the app, or close your browser.',
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
        { app: 'Wiki', text: 'Signed out.', isOpen: false },
        { app: 'Payroll', text: 'Notified. Waiting for the app to confirm.', isOpen: false },
        { app: 'Library', text: 'Signing out…', isOpen: false },
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
        { app: 'Wiki', text: 'Signed out.', isOpen: false },
        { app: 'Example Corp', text: 'You may still be signed in there.', isOpen: true },
      ],
    },
  ],
  signOutDonePlain: ['logout/done', {}],
  deviceEnter: ['device/enter-code', { action: '/x' }],
  deviceEnterError: [
    'device/enter-code',
    { action: '/x', userCode: 'ABCD-EFGH', problem: 'There is no such code. Check it and try again.' },
  ],
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
      title: 'Forgot your password?',
      lead: 'We’ll email you a link to choose a new password.',
      action: '/forgot-password',
      button: 'Send link',
      back: { href: '/account', label: 'Back to sign-in' },
    },
  ],
  mailSent: [
    'mailed-links/message',
    {
      title: 'Check your email',
      lead: 'If that account exists, we emailed it a link.',
      hint: 'No email after a few minutes? Check your spam folder, or try again with the exact username.',
      other: { href: '/forgot-password', label: 'Try again' },
    },
  ],
  passwordChanged: [
    'mailed-links/message',
    {
      title: 'Password changed',
      lead: 'You’re signed out everywhere. Sign in with your new password.',
      hint: 'Then review your passkeys, two-step verification and sessions. Remove anything you don’t recognize.',
      next: { href: '/account', label: 'Sign in' },
      other: { href: '/account', label: 'Review my account' },
    },
  ],
  newPassword: ['mailed-links/new-password', { action: '/reset-password', username: 'alice', minLength: 15 }],
  newPasswordError: [
    'mailed-links/new-password',
    {
      title: 'Choose password',
      lead: 'Your account is ready. Choose a password to sign in with.',
      action: '/invitation',
      username: 'alice',
      minLength: 15,
      problem: 'Don’t use your own name in it.',
    },
  ],
  confirmEmail: [
    'mailed-links/confirm',
    {
      title: 'Use this email address?',
      lead: 'This address replaces your current email address.',
      value: 'alice@example.org',
      action: '/verify-email',
      button: 'Use email address',
    },
  ],
  register: ['registration/request', { action: '/sign-up', signInUrl: '/account' }],
  registerError: [
    'registration/request',
    {
      action: '/sign-up',
      signInUrl: '/account',
      email: 'alice@',
      problem: 'Enter an email address, such as name@example.com.',
    },
  ],
  registerFinish: ['registration/finish', { action: '/sign-up/finish', email: 'alice@example.com', minLength: 15 }],
  mailLink: [
    'mail/mail',
    {
      subject: 'Reset your password',
      preheader: 'The link is valid for 20 minutes.',
      paragraphs: ['Hello Alice Example,', 'Choose a new password for your account alice within 20 minutes:'],
      action: { label: 'Choose a new password', url: 'https://id.example.com/reset-password?token=a'.padEnd(88, 'b') },
      after: ['The link works once. If you didn’t request it, ignore this email. Your password won’t change.'],
      service: 'id.example.com',
    },
  ],
  mailNotice: [
    'mail/mail',
    {
      subject: 'New sign-in to your account',
      preheader: 'November 21, 2026 at 10:09 AM UTC',
      paragraphs: ['Hello Alice Example,', 'There was a sign-in to your account “alice” from a new browser.'],
      facts: [
        { label: 'When', value: 'November 21, 2026 at 10:09 AM UTC' },
        { label: 'Browser', value: 'Firefox on Windows' },
        { label: 'IP address', value: '2001:db8:85a3::8a2e:370:7334' },
      ],
      action: { label: 'Reset password', url: 'https://id.example.com/forgot-password' },
      after: ['If this was you, ignore this email. If not, reset your password now and tell your administrator.'],
      service: 'id.example.com',
    },
  ],
  mailCode: [
    'mail/mail',
    {
      subject: 'Your sign-in code',
      preheader: 'It works for 10 minutes.',
      paragraphs: ['Hello,', 'Enter this code to sign in to id.example.com:'],
      code: '204 815',
      after: ['We’ll never ask you for this code.'],
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
