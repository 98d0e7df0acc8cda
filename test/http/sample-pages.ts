// One sample or more of every page: the tests render them, and a browser looks at them.
import { accountPages, sampleApp } from './account-pages.ts';
import { consolePages } from './console-page.ts';

const alice = { name: 'Alice Example', username: 'alice', email: 'alice@example.com' };
const foot = { who: 'alice', cancelAction: '/signin/u1/cancel', appName: 'Wiki' };
const error = {
  status: 404,
  title: 'Not Found',
  message: 'There is nothing at this address.',
  advice: 'Check the link, or go back to where you came from.',
  code: 'not_found',
  fields: [],
  requestId: 'tFJX8YJrN1Fh2q3c',
};
export const samplePages: Record<string, [string, object]> = {
  error404: ['error', error],
  errorCsrf: [
    'error',
    {
      ...error,
      status: 403,
      title: 'Forbidden',
      message: 'This form is out of date, or your browser did not send the cookie that belongs to it.',
      advice: 'Reload the page and send the form again. If that does not help, allow cookies for this site.',
      next: { href: '/x', label: 'Back to the page' },
      other: { href: '/dashboard', label: 'Your applications' },
    },
  ],
  errorFields: [
    'error',
    {
      ...error,
      status: 400,
      title: 'Bad Request',
      message: 'Some of what was sent is missing or wrong.',
      advice: 'Correct it and send it again.',
      fields: [
        { field: 'username', message: 'Too long' },
        { field: 'users.0.email', message: 'Invalid e-mail address' },
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
      notices: [{ text: 'Only 2 recovery codes are left.', href: '/account/factors', label: 'Make new ones' }],
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
        label: 'Use my passkey',
        isPrimary: true,
      },
      others: [{ href: '/signin/u1?method=totp', label: 'Use the authenticator app' }],
      ...foot,
    },
  ],
  upstreamStep: [
    'sign-in/upstream-factor',
    {
      action: '/signin/u1/connections/corp',
      name: 'Example Corp',
      others: [{ href: '/signin/u1?method=totp', label: 'Use the authenticator app' }],
      ...foot,
    },
  ],
  enrol: [
    'sign-in/enrol',
    {
      passkey: {
        action: '/signin/u1/enrol-passkey',
        mode: 'create',
        options: '{}',
        name: 'My passkey',
        label: 'Set up a passkey',
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
  identifyError: [
    'sign-in/identify',
    {
      action: '/signin/abc/password',
      appName: 'Wiki',
      loginHint: 'alice@example.com',
      problem: 'The user name or the password is not right.',
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
      problem: 'There were too many attempts. Wait 4 minutes and try again.',
      next: { href: '/unlock/ask?signin=abc', label: 'Unlock by mail' },
      forgotPasswordUrl: '/forgot-password',
    },
  ],
  errorDenied: [
    'error',
    {
      ...error,
      status: 403,
      title: 'Forbidden',
      message: 'This server does not answer to your network.',
      advice: 'If you think it should, tell its administrator the request number below.',
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
      problem: 'This password is on the lists of leaked passwords. Choose another one.',
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
        { name: 'openid', label: 'Know that it is you' },
        { name: 'profile', label: 'See your name and user name', values: ['Alice Example', 'alice'] },
        { name: 'email', label: 'See your e-mail address', values: ['alice@example.com'] },
      ],
      resources: [{ name: 'Articles API', scopes: ['articles:read', 'articles:write'] }],
    },
  ],
  selectAccount: ['sign-in/select-account', { action: '/x', appName: 'Wiki', account: alice }],
  secondFactor: [
    'sign-in/second-factor',
    {
      action: '/x',
      hint: 'Enter the six digits that your authenticator app shows.',
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
      hint: 'Enter the six digits that your authenticator app shows.',
      isNumeric: true,
      problem: 'That code is not right. Wait for the next one and try again.',
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
        { app: 'Wiki', text: 'Began this sign-out.', isOpen: false },
        { app: 'Payroll', text: 'Signed out.', isOpen: false },
        { app: 'Chat', text: 'Was notified in this browser. It gives no answer.', isOpen: false },
        { app: 'Field Notes', text: 'Did not answer. Sign out there, or close your browser.', isOpen: true },
        {
          app: 'Archive of the Municipal Library of Upper Example',
          text: 'Does not support signing out from here. Sign out there, or close your browser.',
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
        { app: 'Payroll', text: 'Was notified, and has not answered yet.', isOpen: false },
        { app: 'Library', text: 'Is being notified.', isOpen: false },
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
      lead: 'Tell us who you are, and we send a link to your e-mail address. With it you choose a new password.',
      action: '/forgot-password',
      button: 'Send me a link',
      back: { href: '/account', label: 'Back to the sign-in' },
    },
  ],
  mailSent: [
    'mailed-links/message',
    {
      title: 'Look into your mail',
      lead: 'If there is an account of that name, a link is on its way to its e-mail address.',
      hint: 'Nothing there after a few minutes? Look into the spam folder, or try again with the exact name.',
      other: { href: '/forgot-password', label: 'Try again' },
    },
  ],
  passwordChanged: [
    'mailed-links/message',
    {
      title: 'Your password was changed',
      lead: 'You were signed out everywhere. Sign in with the new password, here or in your application.',
      hint: 'Then review your passkeys, second factors and signed-in devices, in case another person has added one.',
      next: { href: '/account', label: 'Sign in' },
      other: { href: '/account', label: 'Look through my account' },
    },
  ],
  newPassword: ['mailed-links/new-password', { action: '/reset-password', username: 'alice', minLength: 15 }],
  newPasswordError: [
    'mailed-links/new-password',
    {
      title: 'Choose a password',
      lead: 'Your account is ready. Choose the password that you will sign in with.',
      action: '/invitation',
      username: 'alice',
      minLength: 15,
      problem: 'Leave your own name out of it.',
    },
  ],
  confirmEmail: [
    'mailed-links/confirm',
    {
      title: 'Use this address?',
      lead: 'It becomes the e-mail address of your account, in place of the old one.',
      value: 'alice@example.org',
      action: '/verify-email',
      button: 'Use this address',
    },
  ],
  register: ['registration/request', { action: '/sign-up', signInUrl: '/account' }],
  registerError: [
    'registration/request',
    {
      action: '/sign-up',
      signInUrl: '/account',
      email: 'alice@',
      problem: 'This is not an e-mail address. One looks like name@example.com.',
    },
  ],
  registerFinish: ['registration/finish', { action: '/sign-up/finish', email: 'alice@example.com', minLength: 15 }],
  mailLink: [
    'mail/mail',
    {
      subject: 'Reset your password',
      preheader: 'The link works for 20 minutes.',
      paragraphs: ['Hello Alice Example,', 'Choose a new password for your account alice within 20 minutes:'],
      action: { label: 'Choose a new password', url: 'https://id.example.com/reset-password?token=a'.padEnd(88, 'b') },
      after: ['The link works once. If you did not ask for it, do nothing: your password stays as it is.'],
      service: 'id.example.com',
    },
  ],
  mailNotice: [
    'mail/mail',
    {
      subject: 'New sign-in to your account',
      preheader: '21 November 2026 at 10:09 UTC',
      paragraphs: ['Hello Alice Example,', 'Your account alice was used in a browser that we have not seen before.'],
      facts: [
        { label: 'When', value: '21 November 2026 at 10:09 UTC' },
        { label: 'Browser', value: 'Firefox on Windows' },
        { label: 'Network address', value: '2001:db8:85a3::8a2e:370:7334' },
      ],
      action: { label: 'Reset my password', url: 'https://id.example.com/forgot-password' },
      after: ['If it was you, there is nothing to do. If not, reset your password now and tell your administrator.'],
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
      after: ['Nobody from us will ever ask you for it.'],
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
