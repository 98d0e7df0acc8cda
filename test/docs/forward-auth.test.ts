// The code of the guide for websites is that of the examples, which are tested.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (name: string) => readFileSync(name, 'utf8');
const guide = read('docs/forward-auth.md');

it.each(['mjs', 'py', 'go'])('the guide has the verifier of the example website.%s', (extension) => {
  const blocks = [...guide.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code]) => code);
  expect(blocks).toContain(read(`examples/websites/verify/website.${extension}`));
});
