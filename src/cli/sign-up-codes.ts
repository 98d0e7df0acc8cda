// `gatehouse sign-up-code …`: creates, lists and revokes the codes with which people sign up.
import { limits } from '../base/limits.ts';
import { plural } from '../base/platform/plural.ts';
import { type Command, type Input, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { formatDate, plain } from './io.ts';

const { defaultDays, maxDays, maxUses } = limits.signUpCode;

export const signUpCodeCreate: Command = {
  name: 'sign-up-code create',
  summary: 'create a code with which people sign up; prints it once',
  details: 'Sign-up takes codes while the settings self_registration and sign_up_code_required are on.',
  options: {
    name: { type: 'string', value: 'NAME', help: 'whom the code is for' },
    uses: { type: 'string', value: 'NUMBER', help: 'how many accounts can be created with it (default: 1)' },
    days: {
      type: 'string',
      value: 'DAYS',
      help: `days until it expires (default: ${defaultDays}, at most ${maxDays})`,
    },
    ...jsonOption,
  },
  run: (input, io) => {
    const name = input.text('name')?.trim() ?? '';
    if (name === '') throw new UsageError('--name is missing');
    if (name.length > 100) throw new UsageError('--name has at most 100 characters');
    const code = {
      name,
      maxUses: numberOf(input, 'uses', 1, maxUses),
      days: numberOf(input, 'days', defaultDays, maxDays),
    };
    return withServices(io, async ({ signUpCodes, settings }) => {
      const { code: created, text } = await signUpCodes.create(code, {});
      const { self_registration, sign_up_code_required } = settings.latest();
      if (!self_registration || !sign_up_code_required)
        io.note('Sign-up takes no codes yet: turn the settings self_registration and sign_up_code_required on.');
      const { id, expiresAt } = created;
      if (input.flag('json')) io.json({ id, code: text, max_uses: created.maxUses, expires_at: expiresAt });
      else {
        io.out(`Sign-up code: ${text}`);
        const end = expiresAt ? ` It expires at ${expiresAt.toISOString()}.` : '';
        io.out(`Copy it now. You won't see it again. It creates ${plural(created.maxUses, 'account')}.${end}`);
      }
      return 0;
    });
  },
};

export const signUpCodeList: Command = {
  name: 'sign-up-code list',
  summary: 'list all sign-up codes, with their uses',
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async ({ signUpCodes }) => {
      const codes = await signUpCodes.list();
      if (input.flag('json')) {
        io.json(codes);
        return 0;
      }
      const rows = codes.map(({ id, name, uses, maxUses: max, state, expiresAt, source }) => [
        ...[id, name, `${uses} of ${max}`, state, expiresAt ? formatDate(expiresAt) : 'never', source],
      ]);
      io.table(['ID', 'NAME', 'USES', 'STATE', 'EXPIRES', 'SOURCE'], rows);
      return 0;
    }),
};

export const signUpCodeRevoke: Command = {
  name: 'sign-up-code revoke',
  args: ['ID'],
  summary: 'revoke a sign-up code; accounts that were created with it stay',
  details: 'The command sign-up-code list prints the ID.',
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async ({ signUpCodes }) => {
      const [id = ''] = input.words;
      const code = await signUpCodes.get(id).catch(() => undefined);
      if (!code) {
        io.err(`There is no sign-up code "${plain(id)}". To see all sign-up codes, run: gatehouse sign-up-code list`);
        return 1;
      }
      if (code.source === 'file') {
        io.err(`The sign-up code ${plain(code.name)} is declared in the configuration file. Remove it there.`);
        return 1;
      }
      await signUpCodes.revoke(id, {});
      if (input.flag('json')) io.json({ id, revoked: true });
      else io.out(`The sign-up code ${plain(code.name)} is revoked.`);
      return 0;
    }),
};

function numberOf(input: Input, option: 'uses' | 'days', otherwise: number, max: number): number {
  const text = input.text(option);
  if (text === undefined) return otherwise;
  const number = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > max) throw new UsageError(`--${option} must be a number from 1 to ${max}`);
  return number;
}
