// A page of the console with one of everything that a page can be made of.
import type { ConsolePage } from '../../src/admin/console/blocks.ts';
import { Slot, t } from '../../src/base/texts/text.ts';

const page: ConsolePage = {
  title: 'Wiki',
  lead: 'Articles of the whole company.',
  logo: { name: 'Wiki' },
  tabs: [
    { href: '/admin/applications/a1', label: 'Overview', isCurrent: true },
    { href: '/admin/applications/a1/settings', label: 'Settings', isCurrent: false },
  ],
  back: { href: '/admin/applications', label: 'Applications' },
  tags: [{ text: 'Enabled', tone: 'good' }, { text: 'From the file' }],
  actions: [
    { label: 'Edit', of: 'Wiki', href: '/admin/applications/a1/edit' },
    { label: 'Disable', of: 'Wiki', post: '/admin/applications/a1/disable', fields: { enabled: 'no' }, look: 'danger' },
  ],
  error: 'Some values are missing or incorrect.',
  faults: [
    { field: 'redirect_uris', message: 'Redirect URIs must be an absolute URL.' },
    { field: 'urls', row: 1, message: 'URL 2 must be https.' },
    { field: undefined, message: 'Enter a public key.', href: '/admin/applications/a1/credentials#f-jwks' },
  ],
  blocks: [
    { kind: 'text', text: 'A page that shows everything.' },
    { kind: 'text', tone: 'notice', text: 'One click is left.', sends: { form: 'everything', button: 'Save' } },
    {
      kind: 'stats',
      items: [
        { label: 'Users', value: 12, href: '/admin/users' },
        { label: 'Undelivered email', value: 2, tone: 'bad' },
        { label: 'Locked now', value: 1, tone: 'warn' },
      ],
    },
    {
      kind: 'steps',
      title: 'First steps',
      lead: '1 of 2 done.',
      steps: [
        { title: 'Set up mail', text: 'Set SMTP_URL.', isDone: true },
        { title: 'Add an application', text: 'Choose one.', isDone: false, action: { label: 'Add', href: '/admin' } },
      ],
    },
    {
      kind: 'days',
      title: 'Sign-ins',
      summary: '12 signed in and 3 attempts failed.',
      bars: [
        { label: '2026-11-20', value: 5, bad: 3 },
        { label: '2026-11-21', value: 7 },
      ],
      max: 8,
    },
    {
      kind: 'bars',
      title: 'By application',
      summary: 'Today.',
      bars: [{ label: 'Wiki', value: 7 }],
      max: 7,
      empty: '',
    },
    { kind: 'bars', title: 'By nobody', summary: 'Today.', bars: [], max: 1, empty: 'Nobody yet.' },
    {
      kind: 'facts',
      title: 'Registered',
      rows: [{ label: 'Client ID', value: { text: 'wiki', copy: 'client ID', small: 'as sent' } }],
    },
    {
      kind: 'facts',
      title: 'Details',
      rows: [{ label: 'Error', value: { text: 'access_denied', code: true } }],
      isClosed: true,
    },
    {
      kind: 'search',
      action: '/admin/applications',
      fields: [
        { name: 'q', label: 'Name', type: 'search', value: 'wi' },
        { name: 'p', label: 'Protocol', type: 'select', value: 'saml', options: [{ value: 'saml', label: 'SAML' }] },
      ],
    },
    {
      kind: 'table',
      title: 'List',
      caption: 'Applications',
      lead: 'All that are registered.',
      actions: [{ label: 'Add', icon: 'plus', href: '/admin/applications/new' }],
      columns: [
        { label: 'Name', sort: { href: '/admin/applications?sort=-name', order: 'ascending' } },
        ...['Roles', 'Since'],
        { label: 'Sign-ins', isNumber: true, sort: { href: '/admin/applications?sort=sign-ins' } },
        'State',
      ],
      rows: [
        [
          { text: 'Wiki', href: '/admin/applications/a1', small: 'wiki', logo: { name: 'Wiki' } },
          [{ text: 'editor', tone: 'plain' }],
          new Date(0),
          { bars: [1, 0, 5], text: '1284' },
          { text: 'enabled', tone: 'good' },
        ],
        [
          { text: 'Ann Example', logo: { name: 'Ann Example', isPerson: true } },
          { label: 'Remove', of: 'Ann Example', post: '/admin/users/u1/remove' },
          null,
          0,
          {
            text: 'There is no server login.partner.example. Check the address, and the DNS of this server.',
            tone: 'bad',
          },
        ],
      ],
      filter: {
        action: '/admin/applications',
        fields: [{ name: 'f', label: 'Filter', type: 'search', value: '', isLabelHidden: true, placeholder: 'Search' }],
        segments: [{ href: '/admin/applications', label: 'All', count: '2', isCurrent: true }],
      },
      selection: {
        action: '/admin/applications/bulk',
        rows: [
          { id: 'a1', name: 'Wiki' },
          { id: 'u1', name: 'Ann Example' },
        ],
        isAll: true,
        allHref: '/admin/applications?select=all',
        fields: [],
        button: 'Continue',
      },
      count: '2 applications',
      pages: {
        first: '/admin/applications',
        previous: '/admin/applications?after=w',
        next: '/admin/applications?after=x',
      },
      empty: 'None.',
    },
    { kind: 'table', caption: 'Nothing', columns: ['Name'], rows: [], empty: 'No keys.' },
    {
      kind: 'table',
      caption: 'Nothing yet',
      columns: ['Name'],
      rows: [],
      empty: {
        icon: 'layout-grid',
        title: 'Add your first application',
        text: 'It takes five minutes.',
        action: { label: 'New', href: '/admin/applications/new' },
      },
    },
    {
      kind: 'form',
      title: 'Change it',
      lead: 'Only what you change is changed.',
      action: '/admin/applications/a1',
      button: 'Save',
      look: 'secondary', // the bar of the selection has the primary one
      cancel: '/admin/applications/a1',
      fields: [
        { name: 'name', label: 'Name', value: 'Wiki', hint: 'As people see it', required: true },
        { name: 'owner', label: 'Owner', value: '', suggest: 'users' },
        { name: 'minutes', label: 'Session length', type: 'number', value: 15, unit: 'minutes' },
        { name: 'redirect_uris', label: 'Redirect URIs', type: 'textarea', value: 'https://wiki.example.com/cb' },
        { name: 'on', label: 'Enabled', type: 'checkbox', checked: true, hint: 'May be opened' },
        {
          name: 'roles',
          label: 'Roles',
          type: 'checks',
          values: ['editor'],
          options: [{ value: 'editor', label: 'editor' }],
          hint: 'Who may open it',
        },
        {
          name: 'groups',
          label: 'Groups',
          type: 'checks',
          values: ['g-1'],
          options: Array.from({ length: 12 }, (_, at) => ({ value: `g-${at}`, label: `Group ${at}` })),
          isLocked: true,
        },
        {
          name: 'urls',
          label: 'URLs',
          type: 'rows',
          adds: 'URL',
          columns: [
            { name: 'url', label: 'URL', suggestions: ['https://wiki.example.com'] },
            { name: 'kind', label: 'Kind', type: 'select', options: [{ value: 'a', label: 'A' }] },
            { name: 'pem', label: 'Certificate', type: 'textarea' },
          ],
          lines: [
            ['https://wiki.example.com', 'a', 'PEM'],
            ['http://wiki.example.com', 'a', ''],
          ],
          hint: 'Where it is.',
        },
        {
          name: 'mode',
          label: 'Mode',
          type: 'radios',
          value: 'a',
          options: [
            { value: 'a', label: 'All', hint: 'Everything' },
            { value: 'b', label: 'Some', hint: 'A part' },
          ],
        },
        { name: 'version', label: '', type: 'hidden', value: 'v1' },
      ],
    },
    {
      kind: 'form',
      action: '/admin/applications/a1/settings',
      fields: [
        { name: 'locked', label: 'Locked', value: 'x', isLocked: true, hint: 'The file decides.' },
        {
          name: 'lockedList',
          label: 'List',
          type: 'rows',
          adds: 'row',
          columns: [{ name: '', label: 'Row' }],
          isLocked: true,
          lines: [],
        },
        { name: 'half', label: 'Half', value: 'x', isHalf: true, isCode: true },
      ],
    },
    {
      kind: 'form',
      action: '/admin/applications/a1/settings',
      button: 'Save changes',
      look: 'secondary',
      fields: [{ name: 'version', label: '', type: 'hidden', value: 'v1' }],
      sections: [
        { title: 'General', lead: 'What people see.', fields: [{ name: 'title', label: 'Title', value: 'Wiki' }] },
        {
          title: 'Tokens',
          summary: '15 minutes',
          isAdvanced: true,
          fields: [{ name: 'lifetime', label: 'Lifetime', type: 'number', value: 15, unit: 'minutes' }],
        },
      ],
    },
    {
      kind: 'actions',
      title: 'Danger',
      items: [{ label: 'Delete', href: '/admin/applications/a1/delete', look: 'danger' }],
    },
    {
      kind: 'tasks',
      title: 'Danger zone',
      isDanger: true,
      rows: [
        {
          title: 'Delete application',
          text: 'It is deleted for good.',
          action: { label: 'Delete', of: 'Wiki', href: '/admin/applications/a1/delete', look: 'danger' },
        },
      ],
    },
    {
      kind: 'secret',
      label: 'API key',
      copied: t('console.shared.copied.api-key'),
      text: 'gh_4mMSDEI3QD8AaZ7zqc0u9YF',
      lead: 'Copy the key now.',
    },
    {
      kind: 'stages',
      title: 'Keys',
      stages: [
        { title: 'Next', tone: 'warn', items: [], empty: 'None published' },
        {
          title: 'Active',
          tone: 'good',
          items: [
            {
              name: { text: 'RS256', small: 'k1' },
              rows: [{ label: 'Signs since', value: new Date('2026-11-20T10:00:00Z') }],
            },
          ],
          empty: 'None',
        },
      ],
    },
    { kind: 'code', title: 'Paste this', label: 'Settings', text: 'issuer: https://id.example.com' },
    {
      kind: 'document',
      parts: [
        { html: '<p>1</p>' },
        { code: 'npm start', language: 'sh' },
        { light: 'icon.svg', dark: 'icon.svg', alt: 'The mark', width: '32' },
        { html: '<h2 id="one">1</h2><h2 id="two">2</h2><h2 id="three">3</h2>' },
      ],
      contents: ['one', 'two', 'three'].map((id) => ({ href: `#${id}`, label: id })),
    },
    { kind: 'links', title: 'Chapters', items: [{ href: '/docs/console', label: 'Console', isCurrent: true }] },
    {
      kind: 'tiles',
      title: 'New',
      items: [{ title: 'Grafana', text: 'OpenID Connect', href: '/admin/applications/new/grafana' }],
    },
    {
      kind: 'rules',
      title: 'Rules in order',
      rules: [
        { label: 'The application is known', state: 'passed' },
        {
          label: 'The redirect URI is registered',
          state: 'failed',
          explanation: 'They must match exactly.',
          received: 'https://wiki.example.com/cb/',
          registered: 'https://wiki.example.com/cb',
        },
        { label: 'The scope is allowed', state: 'unknown' },
        { label: 'Password works', state: 'later', explanation: 'Ann chooses a new password at the next sign-in.' },
        { label: 'Network isn’t blocked', state: 'skipped' },
        { label: 'The last password was right', state: 'warning' },
      ],
    },
    {
      kind: 'result',
      isGood: false,
      title: 'Ann can’t sign in to Wiki',
      causes: [
        {
          text: 'Wiki requires the role editor. Ann has no roles.',
          actions: [{ label: 'Give Ann the role editor', post: '/admin/access-check', fields: { fix: 'role editor' } }],
        },
        { text: 'Wiki is disabled.', actions: [], note: 'The configuration file manages Wiki. Change it there.' },
      ],
    },
    { kind: 'preview', title: 'HTML', src: '/admin/mail/templates/test/html' },
    { kind: 'result', isGood: true, title: 'Bo can sign in to Wiki', text: 'Every check passed.', causes: [] },
    {
      kind: 'events',
      title: 'Recent attempts',
      caption: 'Recent attempts, newest first',
      actions: [{ label: 'Activity log', href: '/admin/audit' }],
      items: [
        {
          at: new Date('2026-11-20T10:00:00Z'),
          icon: 'log-in',
          tone: 'good',
          sentence: t('activity.event.sign-in.completed.app', {
            user: new Slot({ text: 'ann', href: '/admin/users/u1' }),
            app: new Slot({ text: 'Wiki' }),
            with: t('activity.method.passkey'),
          }),
          place: 'Firefox on Linux · 192.0.2.7',
          details: [{ label: 'Event', value: { text: 'sign-in.completed', code: true } }],
        },
        {
          at: new Date('2026-11-20T09:00:00Z'),
          icon: 'circle-x',
          tone: 'bad',
          sentence: 'A wrong password',
          place: '',
          details: [],
        },
      ],
      empty: 'No attempts yet.',
      pages: { next: '/admin/audit?before=1' },
    },
  ],
  aside: [{ kind: 'facts', title: 'Health', rows: [{ label: 'Database', value: { text: 'good', tone: 'good' } }] }],
};

export const consolePages: Record<string, [string, object]> = {
  console: [
    'admin/page',
    {
      ...page,
      console: {
        person: { name: 'Ann Example', username: 'ann' },
        notice: { text: 'Saved.', tone: 'good' },
        navigation: [
          { entries: [{ href: '/admin', label: 'Overview', icon: 'layout-dashboard', isCurrent: false }] },
          {
            title: 'Applications',
            entries: [
              { href: '/admin/applications', label: 'Applications', icon: 'layout-grid', isCurrent: true },
              { href: '/admin/apis', label: 'APIs', icon: 'braces', isCurrent: false },
            ],
          },
        ],
      },
    },
  ],
};
