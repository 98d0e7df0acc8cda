// `gatehouse app registration-token`: creates an initial access token for dynamic client registration
// (RFC 7591 section 3).
import { createRegistrationTokens } from '../protocols/oidc/store/registration-tokens.ts';
import { type Command, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';

export const appRegistrationToken: Command = {
  name: 'app registration-token',
  summary: 'create an initial access token for dynamic registration (/register); prints it once',
  options: {
    seconds: { type: 'string', value: 'SECONDS', help: 'seconds that the token is valid (default: 86400)' },
    'without-pkce': {
      type: 'boolean',
      help: 'confidential clients registered with it need no PKCE; for software that cannot send it',
    },
    ...jsonOption,
  },
  run: (input, io) =>
    withServices(io, async (services) => {
      const seconds = input.text('seconds');
      if (seconds !== undefined && !/^[1-9]\d{0,7}$/.test(seconds))
        throw new UsageError('--seconds must be a number of seconds');
      const tokens = createRegistrationTokens(services);
      const withoutPkce = input.flag('without-pkce');
      const { token, expiresAt } = await tokens.issue({
        ...(seconds !== undefined && { seconds: Number(seconds) }),
        withoutPkce,
      });
      if (withoutPkce) io.note('Warning: a stolen code of a client without PKCE can be used with its secret alone.');
      if (input.flag('json')) io.json({ initial_access_token: token, expires_at: expiresAt });
      else {
        io.out(`Initial access token: ${token}`);
        io.out(`Copy it now. You won't see it again. It expires at ${expiresAt.toISOString()}.`);
      }
      return 0;
    }),
};
