// Samples of the account pages and of the second step of a sign-in, for sample-pages.ts.
import { t } from '../../src/base/texts/text.ts';

const alice = {
  name: 'Alice Example',
  username: 'alice',
  email: 'alice@example.com',
  givenName: 'Alice',
  familyName: 'Example',
};
const profileFields = [
  { name: 'name', label: t('profile.name'), autocomplete: 'name', lines: 1, value: 'Alice Example', hint: '' },
  {
    name: 'locale',
    label: t('profile.locale'),
    autocomplete: 'language',
    value: 'de',
    options: [
      { tag: 'de', name: 'Deutsch' },
      { tag: 'en', name: 'English' },
    ],
  },
  {
    name: 'street_address',
    label: t('profile.street_address'),
    autocomplete: 'street-address',
    lines: 2,
    value: '1 Road\nFlat 2',
    hint: '',
  },
];
const ownFields = [
  { name: 'attributes.badge', label: 'Badge', lines: 1, value: 'A-12', hint: t('profile.mask', { mask: 'A-99' }) },
  { name: 'attributes.size', label: 'Size', lines: 1, value: 'S', choices: [{ tag: 'S', name: 'S' }], isLocked: true },
];
const at = (text: string) => new Date(text);
const qr = `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 29 29"><path d="M0 0h7v7H0zM22 0h7v7h-7zM0 22h7v7H0zM10 10h9v9h-9z"/></svg>').toString('base64')}`;
export const sampleApp = {
  action: '/x',
  qr,
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  uri: 'otpauth://totp/id.example.com:alice?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  sealed: 'v1.x.y',
};
const codes = Array.from({ length: 10 }, (_, index) => `${index}bcd-efgh-jkmn-pqr${index}`);

export const accountPages: Record<string, [string, object]> = {
  account: [
    'account/overview',
    {
      account: alice,
      notice: { text: t('change-password.done'), tone: 'good' },
      warnings: [{ text: t('overview.protect'), href: '/account/factors', label: t('enrol.set-up') }],
      unproven: 'alice@example.com',
      sections: [
        {
          title: t('overview.personal'),
          links: [
            { href: '/account/profile', label: t('profile.title'), hint: 'Alice Example' },
            { href: '/account/email', label: t('email.title'), hint: 'alice@example.com' },
          ],
        },
        {
          title: t('overview.security'),
          links: [
            {
              href: '/account/password',
              label: t('sign-in.password'),
              hint: t('overview.password-changed', { date: at('2026-03-03T10:00:00Z') }),
            },
            {
              href: '/account/factors',
              label: t('factors.heading'),
              hint: t('overview.factor-passkeys', { count: 2 }),
            },
            { href: '/account/connections', label: t('connections.title'), hint: t('overview.connections-hint') },
            { href: '/account/browsers', label: t('browsers.title'), hint: t('overview.browsers-hint') },
            { href: '/account/activity', label: t('activity.title'), hint: t('overview.activity-hint') },
          ],
        },
        {
          title: t('overview.apps'),
          links: [
            { href: '/dashboard', label: t('page.your-apps'), hint: t('overview.apps-hint') },
            { href: '/account/groups', label: t('groups.title'), hint: t('overview.groups-hint') },
            { href: '/account/sessions', label: t('sessions.title'), hint: t('overview.sessions-hint') },
            { href: '/account/applications', label: t('consents.title'), hint: t('overview.consents-hint') },
          ],
        },
      ],
    },
  ],
  accountProfile: [
    'account/profile',
    {
      account: alice,
      fields: profileFields,
      ownFields,
      isManagedByFile: false,
      phone: { number: '+49 170 1234567', isVerified: false },
      hasSms: true,
    },
  ],
  accountProfileOfFile: [
    'account/profile',
    {
      account: alice,
      fields: profileFields,
      ownFields,
      isManagedByFile: true,
      phone: { number: null, isVerified: false },
      hasSms: true,
    },
  ],
  accountProfileError: [
    'account/profile',
    {
      account: alice,
      fields: profileFields,
      ownFields,
      isManagedByFile: false,
      phone: { number: '+491701234567', isVerified: true },
      hasSms: false,
      error: t('profile.fault', { label: t('profile.website'), message: t('profile.not-web-address') }),
    },
  ],
  accountConfirm: [
    'account/confirm',
    {
      confirm: {
        action: '/account/confirm/x',
        way: 'totp',
        username: 'alice',
        others: [{ href: '/account/confirm/x?method=sms', label: t('second-factor.use-sms') }],
        error: t('second-factor.wrong-code'),
        signInUrl: '/login',
        cancelUrl: '/account',
      },
    },
  ],
  accountConfirmPassword: [
    'account/confirm',
    {
      confirm: {
        action: '/account/confirm/x',
        way: 'password',
        username: 'alice',
        signInUrl: '/login',
        cancelUrl: '/account',
      },
    },
  ],
  accountEmail: ['account/email', { account: alice, isManagedByFile: false }],
  accountEmailError: [
    'account/email',
    {
      account: alice,
      isManagedByFile: false,
      typed: 'alice@',
      error: t('registration.invalid-email'),
    },
  ],
  accountConnections: [
    'account/connections',
    {
      notice: { text: t('connections.added', { connection: 'Example Corp' }), tone: 'good' },
      linked: [
        {
          id: 'one',
          connectionName: 'Example Corp',
          label: 'alice@corp.example',
          linkedAt: at('2026-03-03T10:00:00Z'),
          lastUsedAt: at('2026-04-03T10:00:00Z'),
        },
      ],
      available: [{ id: 'github', name: 'GitHub', logo: 'github' }],
    },
  ],
  accountAppPasswords: [
    'account/app-passwords',
    {
      notice: { text: t('app-passwords.revoked'), tone: 'good' },
      passwords: [
        {
          id: 'one',
          name: 'Calendar on my phone',
          website: 'Family calendar',
          origin: 'https://calendar.example.com',
          createdAt: at('2026-06-01'),
          lastUsedAt: at('2026-11-01T09:00:00Z'),
        },
        {
          id: 'two',
          name: 'Backup',
          website: 'Files',
          origin: 'https://files.example.com',
          createdAt: at('2026-06-01'),
          lastUsedAt: null,
        },
      ],
      canAdd: true,
    },
  ],
  accountAppPasswordsNone: ['account/app-passwords', { passwords: [], canAdd: true }],
  accountAppPasswordNew: [
    'account/app-password',
    {
      websites: [
        { id: 'a1', name: 'Family calendar' },
        { id: 'a2', name: 'Files' },
      ],
    },
  ],
  accountAppPasswordCreated: [
    'account/app-password',
    {
      created: {
        website: 'Family calendar',
        origin: 'https://calendar.example.com',
        username: 'alice',
        password: 'k7m2-q9xd-3hrt-w5vb-n8ec-z4pg-6jys-a1fd',
      },
    },
  ],
  accountConnectionsNone: ['account/connections', { linked: [], available: [] }],
  accountGroupsNone: ['account/groups', { groups: [], owned: [], requests: [], deputies: [], mayDeputize: false }],
  accountDeputies: [
    'account/deputies',
    {
      groups: [
        { groupId: 'lab', group: 'Lab' },
        { groupId: 'physics', group: 'Physics' },
      ],
      deputies: [{ group: { id: 'lab', name: 'Lab' }, person: alice, until: at('2099-07-31T23:59:59Z') }],
      today: '2099-07-01',
      last: '2099-09-29',
    },
  ],
  accountGroups: [
    'account/groups',
    {
      notice: { text: t('groups.asked'), tone: 'good' },
      groups: [
        {
          name: 'Physics',
          path: '/Science/Physics',
          isDirect: true,
          via: 'Physics',
          until: at('2099-07-31T23:59:59Z'),
        },
        { name: 'Science', path: '/Science', isDirect: false, via: 'Physics', until: null },
      ],
      owned: [{ id: 'lab', name: 'Lab', path: '/Lab', waiting: 2 }],
      deputies: [{ group: { id: 'lab', name: 'Lab' }, person: alice, until: at('2099-07-31T23:59:59Z'), isOwn: false }],
      mayDeputize: true,
      requests: (['open', 'granted', 'denied', 'withdrawn', 'lapsed'] as const).map((state) => ({
        id: state,
        group: { name: 'Chemistry' },
        state,
        createdAt: at('2026-03-03T10:00:00Z'),
        expiresAt: at('2026-03-17T10:00:00Z'),
        answer: state === 'denied' ? 'Ask again in summer' : '',
      })),
    },
  ],
  accountGroup: [
    'account/group',
    {
      notice: { text: t('groups.added', { login: 'bo' }), tone: 'plain' },
      group: { id: 'lab', name: 'Lab', path: '/Lab', description: 'Everybody in the laboratory' },
      today: '2026-03-03',
      members: [
        {
          person: { id: 'a', username: 'alice', name: 'Alice Example' },
          isOwn: true,
          until: null,
          end: { day: '', time: '' },
        },
        {
          person: { id: 'b', username: 'bo', name: null },
          isOwn: true,
          until: at('2099-07-31T23:59:59Z'),
          end: { day: '2099-07-31', time: '' },
        },
        {
          person: { id: 'c', username: 'carl', name: 'Carl Example' },
          isOwn: false,
          until: null,
          end: { day: '', time: '' },
        },
      ],
      requests: [
        {
          id: 'r',
          person: { id: 'd', username: 'dana', name: 'Dana Example' },
          reason: 'Replacing Carl in July',
          until: { day: '2099-07-31', time: '18:00' },
        },
      ],
      invitations: [
        {
          id: 'i',
          email: 'erin@example.com',
          until: at('2099-07-31T00:00:00Z'),
          state: 'open',
          expiresAt: at('2099-03-10T00:00:00Z'),
        },
        { id: 'j', email: 'finn@example.com', until: null, state: 'accepted', expiresAt: at('2026-03-01T00:00:00Z') },
        { id: 'k', email: 'gwen@example.com', until: null, state: 'expired', expiresAt: at('2026-03-01T00:00:00Z') },
      ],
      invitationDays: 7,
      next: '/account/groups/lab?after=c',
    },
  ],
  accountGroupBlocked: [
    'account/group',
    {
      group: { id: 'lab', name: 'Lab', path: '/Lab', description: '' },
      today: '2026-03-03',
      blocked: { why: [t('error.group_unconfirmed'), t('error.group_unconfirmed.advice')], mayRemove: true },
      members: [],
      requests: [],
      invitations: [],
      invitationDays: 7,
    },
  ],
  accountAsk: [
    'account/ask',
    {
      application: { id: 'wiki', name: 'Wiki' },
      groups: [{ id: 'lab', name: 'Lab', description: '' }],
      today: '2026-03-03',
    },
  ],
  accountAskSeveral: [
    'account/ask',
    {
      application: { id: 'wiki', name: 'Wiki' },
      groups: [
        { id: 'lab', name: 'Lab', description: 'Everybody in the laboratory' },
        { id: 'physics', name: 'Physics', description: '' },
      ],
      today: '2026-03-03',
      notice: { text: t('groups.day-passed'), tone: 'bad' },
    },
  ],
  accountPasswordInDirectory: ['account/password-in-directory', { directory: 'Example Directory' }],
  accountPassword: ['account/password', { username: 'alice', minLength: 8 }],
  accountPasswordLonger: [
    'account/password',
    { username: 'alice', minLength: 15, need: 'long', error: t('password.too-short-with-mfa', { count: 15 }) },
  ],
  accountFactorsNone: [
    'account/factors',
    {
      hasTotp: false,
      passkeys: [],
      canAddPasskey: true,
      offersSms: true,
      recoveryCodes: 0,
      hasFewCodes: true,
      hasFactor: false,
    },
  ],
  accountFactors: [
    'account/factors',
    {
      hasTotp: true,
      passkeys: [
        { id: 'k1', name: 'Phone', createdAt: at('2026-03-01'), lastUsedAt: at('2026-11-20') },
        { id: 'k2', name: 'The yellow key in the drawer at home', createdAt: at('2026-04-01'), lastUsedAt: null },
      ],
      canAddPasskey: true,
      offersSms: true,
      phone: '+49•••••67',
      recoveryCodes: 2,
      hasFewCodes: true,
      hasFactor: true,
      notice: { text: t('factors.passkey-done'), tone: 'good' },
    },
  ],
  accountApp: ['account/authenticator-app', sampleApp],
  accountAppError: ['account/authenticator-app', { ...sampleApp, error: t('enrol.wrong-code') }],
  accountPasskey: [
    'account/passkey',
    {
      passkey: {
        action: '/x',
        mode: 'create',
        options: '{}',
        sealed: 'v1.x',
        name: t('passkey.default-name'),
        label: t('factors.create-passkey'),
        isPrimary: true,
      },
    },
  ],
  accountPhone: ['account/phone', { action: '/account/factors/phone', number: '' }],
  accountPhoneCode: [
    'account/phone',
    {
      action: '/account/factors/phone',
      number: '+491701234567',
      sealed: 'v1.x',
      sentTo: '+49•••••67',
      error: t('phone.wrong-code'),
    },
  ],
  accountRecoveryCodes: [
    'sign-in/recovery-codes',
    {
      codes,
      downloadUri: 'data:text/plain;charset=utf-8,abcd',
      username: 'alice',
      service: 'Example',
      address: 'https://id.example.com',
      madeOn: '2026-11-21',
      continueUrl: '/account/factors',
    },
  ],
  accountSessions: [
    'account/sessions',
    {
      sessions: [
        {
          uid: 's1',
          isHere: true,
          browser: t('browser.on', { browser: 'Firefox', system: 'Windows' }),
          address: '192.0.2.17',
          signedInAt: at('2026-11-21T08:12:00Z'),
          lastSeenAt: at('2026-11-21T10:09:00Z'),
          apps: ['Wiki', 'Field Notes'],
        },
        {
          uid: 's2',
          isHere: false,
          browser: t('browser.on', { browser: 'Safari', system: 'iPhone' }),
          address: '2001:db8:85a3::8a2e:370:7334',
          signedInAt: at('2026-11-20T08:12:00Z'),
          lastSeenAt: at('2026-11-20T18:30:00Z'),
          apps: [],
        },
      ],
      notice: { text: t('sessions.ended'), tone: 'good' },
    },
  ],
  accountBrowsers: [
    'account/browsers',
    {
      browsers: [
        {
          id: 'b1',
          name: t('browser.on', { browser: 'Firefox', system: 'Windows' }),
          isHere: true,
          isTrusted: true,
          address: '192.0.2.17',
          createdAt: at('2026-03-01'),
          lastSeenAt: at('2026-11-21T10:09:00Z'),
        },
        {
          id: 'b2',
          name: t('browsers.unknown'),
          isHere: false,
          isTrusted: false,
          address: null,
          createdAt: at('2026-06-01'),
          lastSeenAt: at('2026-11-01T09:00:00Z'),
        },
      ],
    },
  ],
  accountBrowsersNone: ['account/browsers', { browsers: [] }],
  accountActivity: [
    'account/activity',
    {
      events: [
        {
          at: at('2026-11-21T10:09:00Z'),
          text: 'Ann signed in to Payroll with a passkey',
          place: [t('browser.on', { browser: 'Firefox', system: 'Windows' }), '192.0.2.17'],
          isBad: false,
        },
        {
          at: at('2026-11-20T10:09:00Z'),
          text: t('activity.event.sign-in.password.failed.wrong-password', { user: 'Ann' }),
          place: [],
          isBad: true,
        },
      ],
      next: '/account/activity?before=7',
    },
  ],
  accountData: [
    'account/own-data',
    {
      deletion: { at: null, days: 14 },
      facts: [
        { label: t('own-data.username'), value: 'alice' },
        { label: t('email.title'), value: 'alice.with.a.long.address@example.com' },
      ],
      sections: [
        {
          title: t('browsers.title'),
          rows: [
            {
              names: [t('browser.on', { browser: 'Firefox', system: 'Windows' }), '2001:db8:85a3::8a2e:370:7334'],
              since: at('2026-03-01T10:00:00Z'),
              lastUsed: at('2026-11-21T10:09:00Z'),
              until: null,
            },
          ],
          more: 3,
        },
        {
          title: t('factors.app'),
          rows: [{ names: [], since: at('2026-03-01'), lastUsed: null, until: null }],
          more: 0,
        },
        {
          title: t('own-data.api-keys'),
          rows: [{ names: ['Backup'], since: at('2026-03-01'), lastUsed: null, until: at('2026-12-01') }],
          more: 0,
        },
      ],
    },
  ],
  accountDataKeep: [
    'account/own-data',
    { facts: [], sections: [], deletion: { at: at('2026-12-13T10:00:00Z'), days: 14 } },
  ],
  signInDeletion: ['sign-in/deletion', { action: '/x', account: alice, deleteAt: at('2026-12-13T10:00:00Z') }],
  accountActivityNone: ['account/activity', { events: [] }],
  accountApplications: [
    'account/consents',
    {
      consents: [
        {
          applicationId: 'a1',
          applicationName: 'Field Notes',
          granted: [[t('consent.scope-openid'), t('consent.scope-profile'), t('consent.scope-email')]],
          grantedAt: at('2026-05-04'),
        },
        {
          applicationId: 'a2',
          applicationName: 'vendor.example (Helper)',
          clientId: 'https://vendor.example/oauth/client.json',
          goesTo: 'this-computer',
          granted: [[t('consents.on-behalf', { resource: 'https://mcp.example.com' }), 'Read your notes']],
          grantedAt: at('2026-05-05'),
          lastUsedAt: at('2026-05-06'),
        },
      ],
    },
  ],
  accountApplicationsNone: ['account/consents', { consents: [] }],
  stepSendCode: [
    'sign-in/second-factor',
    {
      action: '/x',
      method: 'sms',
      hint: t('second-factor.will-send', { place: '+49•••••67' }),
      isNumeric: true,
      send: { action: '/y', method: 'sms', isFirst: true },
      others: [{ href: '/z', label: t('second-factor.use-recovery-code') }],
    },
  ],
  stepSentCode: [
    'sign-in/second-factor',
    {
      action: '/x',
      method: 'email',
      hint: t('second-factor.sent', { place: 'a•••@example.com' }),
      isNumeric: true,
      send: { action: '/y', method: 'email', isFirst: false },
    },
  ],
};
