// `gatehouse mail test`: what the mail server says, and what the DNS says about the sender.

import { parse } from '../base/http/input.ts';
import { type Command, jsonOption } from './command.ts';
import { withServices } from './context.ts';
import { plain } from './io.ts';

export const mailTest: Command = {
  name: 'mail test',
  args: ['ADDRESS'],
  summary: 'send a test message, and check SPF, DKIM and DMARC of the sender',
  options: {
    selector: { type: 'string', value: 'NAME', help: 'of DKIM; without it the key is not looked up' },
    ...jsonOption,
  },
  run: (input, io) =>
    withServices(io, async (services) => {
      const { createMailAdmin, testJson, testInput } = await import('../admin/mail/mail.ts');
      const wish = parse(testInput, { to: input.words[0] ?? '', selector: input.text('selector') });
      const test = testJson(await createMailAdmin(services).sendTest(wish, {}));
      if (input.flag('json')) io.json(test);
      else {
        for (const line of [`${test.title}.`, test.text, test.answer]) io.out(plain(line));
        for (const { kind, state, text, value } of test.records) {
          io.out(plain(`${kind} ${state}: ${text}`));
          if (value !== null) io.out(`  ${plain(value)}`);
        }
      }
      return ['accepted', 'written'].includes(test.outcome) ? 0 : 1;
    }),
};
