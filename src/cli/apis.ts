// `gatehouse api …`: the APIs that access tokens are issued for, and who may ask for them.
import { accessText } from './apps.ts';
import { type Commands, noSuch } from './command.ts';
import { factLines } from './io.ts';

export const apiCommands: Commands = {
  'api list': {
    summary: 'list all APIs',
    async act({ resources }) {
      const found = await resources.list();
      const rows = found.map(({ identifier, scopes, clients, access, source }) => [
        ...[identifier, scopes.join(' ') || '-', clients, accessText(access), source],
      ]);
      return { json: found, table: [['IDENTIFIER', 'SCOPES', 'CLIENTS', 'ACCESS', 'SOURCE'], rows] };
    },
  },

  'api show': {
    args: ['IDENTIFIER'],
    summary: 'show an API: its scopes, and who may ask for it',
    async act({ resources }, { words: [identifier = ''] }) {
      const api = (await resources.list()).find((one) => one.identifier === identifier);
      if (!api) return noSuch('API', 'api', identifier);
      const warning = resources.warningOf(api);
      return {
        json: api,
        text: factLines([
          ['identifier', api.identifier],
          ...api.scopes.map((scope): [string, string] => [
            'scope',
            [
              scope,
              ...(api.scopePermissions[scope] ? [`needs ${api.scopePermissions[scope]}`] : []),
              ...(api.scopeTitles[scope] ? [`"${api.scopeTitles[scope]}"`] : []),
            ].join(', '),
          ]),
          ['tokens', `signed with ${api.signingAlg}`],
          ['access', accessText(api.access)],
          ['clients', api.clients],
          ['document hosts', api.documentHosts.join(', ') || (api.clients === 'registered' ? '-' : 'all')],
          ['agent scopes', api.agentScopes.join(' ') || (api.clients === 'registered' ? '-' : 'all')],
          ['source', api.source === 'file' ? 'the configuration file' : api.source],
        ]),
        ...(warning && { notes: [String(warning)] }),
      };
    },
  },
};
