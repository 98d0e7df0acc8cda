// Sign-up codes of the configuration file: declared, changed, taken over and removed; their uses stay.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { configFileBench, lines } from './support.ts';

let bench: Awaited<ReturnType<typeof configFileBench>>;
beforeAll(async () => {
  bench = await configFileBench();
});
afterAll(() => bench.close());

const entry = (more: string) => `sign_up_codes: [{ name: Partners, ${more} }]`;
const apply = async (text: string) => lines(await bench.apply(text));
const stored = async () => (await bench.signUpCodes.list()).map(({ name, uses, maxUses }) => ({ name, uses, maxUses }));

it('the file owns its sign-up codes, and a change of other fields keeps the uses', async () => {
  const { signUpCodes, db } = bench;
  expect(await apply(entry('code: partners-of-2026, max_uses: 3'))).toEqual(['create sign_up_codes Partners']);
  const found = await signUpCodes.find('PARTNERS of 2026');
  if (!('code' in found)) throw new Error(found.fault);
  expect(await db.$transaction((tx) => signUpCodes.use(found.code.id, tx))).toMatchObject({ uses: 1 });
  expect(await apply(entry('code: partners-of-2026, max_uses: 3'))).toEqual([]);
  expect(await apply(entry('code: partners-of-2026, max_uses: 5, expires_at: "2026-12-31T00:00:00Z"'))).toEqual([
    'change sign_up_codes Partners (max_uses, expires_at)',
  ]);
  expect(await stored()).toEqual([{ name: 'Partners', uses: 1, maxUses: 5 }]);
  await expect(signUpCodes.revoke(found.code.id, {})).rejects.toMatchObject({ code: 'owned_by_file' });

  // Without a code the stored one stays; the export has none.
  const exported = await bench.export();
  expect(exported).toContain('name: Partners');
  expect(exported).not.toContain('partners-of-2026');
  expect(await apply(entry('max_uses: 5, expires_at: "2026-12-31T00:00:00Z"'))).toEqual([]);
  expect(await apply(entry('code: another-code-1, max_uses: 5'))).toEqual([
    'change sign_up_codes Partners (expires_at, code)',
  ]);
  expect(await stored()).toEqual([{ name: 'Partners', uses: 0, maxUses: 5 }]);
  expect(await signUpCodes.find('partners-of-2026')).toEqual({ fault: 'unknown' });
  expect(await apply('{}')).toEqual(['delete sign_up_codes Partners']);
  expect(await stored()).toEqual([]);
});

it('an entry without any code is left out with a warning, and a code has one name', async () => {
  const planned = await bench.plan('sign_up_codes: [{ name: None }]');
  expect(planned).toMatchObject({ ok: true, plan: { steps: [], warnings: [expect.stringContaining('None')] } });
  const twice = 'sign_up_codes: [{ name: A, code: the-same-code }, { name: B, code: The Same Code }]';
  expect(await apply(twice)).toEqual([expect.stringContaining('is already declared in sign_up_codes[0]')]);
  expect(await apply('sign_up_codes: [{ name: A, code: short }]')).toEqual([expect.stringContaining('code')]);
  const { text } = await bench.signUpCodes.create({ name: 'Local', maxUses: 1, days: 1 }, {});
  expect(await apply(`sign_up_codes: [{ name: A, code: ${text} }]`)).toEqual([
    expect.stringContaining('is the code of another sign-up code'),
  ]);
  expect(await apply(`sign_up_codes: [{ name: Local, code: ${text} }]`)).toEqual([
    'change sign_up_codes Local (expires_at, source)',
  ]);
});

it('a plan that hides secrets confirms no guess', async () => {
  await apply(entry('code: partners-of-2026'));
  const fieldsOf = async (code: string) => {
    const text = entry(`code: ${code}`);
    const file = {
      ...(await import('../../src/config-file/file.ts')).parseFile(text),
      path: '/nowhere/gatehouse.yaml',
    };
    const planned = await bench.configFile.plan(file, { hidesSecrets: true });
    return planned.ok ? planned.plan.steps.map(({ fields }) => fields) : planned.faults;
  };
  expect(await fieldsOf('partners-of-2026')).toEqual(await fieldsOf('a-wrong-guess-1'));
  expect(await fieldsOf('a-wrong-guess-1')).toEqual([[{ field: 'code', to: '(set)' }]]);
});
