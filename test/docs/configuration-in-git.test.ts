// The guide "Configuration in git" of docs/configuration.md: its commands run as they are printed, on a server with entries of the console.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { commandLine } from '../cli/support.ts';

const [, guide = ''] =
  /\n### Configuration in git\n([\s\S]*?)\n## /.exec(readFileSync('docs/configuration.md', 'utf8')) ?? [];
const [github, gitlab] = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => parse(text));
const [exporting = '', nightly = ''] = [
  /`(gatehouse export [^`]*) > gatehouse\.yaml`/,
  /`(gatehouse plan [^`]*--exit-code)`/,
].map((pattern) => pattern.exec(guide)?.[1] ?? '');

let cli: Awaited<ReturnType<typeof commandLine>>;
beforeAll(async () => {
  cli = await commandLine();
});
afterAll(() => cli.close());

const file = (name: string) => path.join(cli.folder, name);
const run = (command: string) =>
  cli.gatehouse(
    command
      .split(' ')
      .slice(1)
      .map((word) => (/^(gatehouse\.yaml|pictures)$/.test(word) ? file(word) : word)),
  );

it('both jobs plan each change and apply the main branch', () => {
  const { steps, env } = github.jobs.configuration;
  const ofGithub = steps.flatMap(({ run: command, if: when }: { run?: string; if?: string }) =>
    command ? [[command, when]] : [],
  );
  expect(ofGithub).toEqual([
    [gitlab.plan.script[0], undefined],
    [gitlab.apply.script[0], "github.ref == 'refs/heads/main'"],
  ]);
  expect(Object.keys(env)).toEqual(['ISSUER', 'DATABASE_URL', 'GATEHOUSE_SECRET']);
});

it('the commands export, plan and apply, and find at night what was changed elsewhere', async () => {
  await run('gatehouse group create Lab');
  await run('gatehouse user add bob --email bob@example.com --role admin');
  const exported = await run(exporting);
  expect(exported).toMatchObject({ code: 0, err: '' });
  expect(exported.out).toContain('name: Lab');
  expect(exported.out).not.toContain('bob');
  writeFileSync(file('gatehouse.yaml'), exported.out);
  expect(await run(nightly)).toMatchObject({ code: 2 });
  expect(await run(gitlab.plan.script[0])).toMatchObject({ code: 0, out: expect.stringContaining('~ groups Lab') });
  expect(await run(gitlab.apply.script[0])).toMatchObject({ code: 0, err: '' });
  expect(await run(nightly)).toMatchObject({ code: 0, out: expect.stringContaining('0 to change') });
  await cli.db.asStored.group.updateMany({ data: { description: 'Changed elsewhere' } });
  expect((await run(nightly)).code).not.toBe(0);
});
