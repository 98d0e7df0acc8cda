// A new form of the console has to say in test/admin/fresh-proof.ts what it does.
import { expect, it } from 'vitest';
import { createConsole, createDiagnostics, createTestBench } from '../../../src/server/administration.ts';
import { anyDependency } from '../../support/any-dependency.ts';
import { consoleForms, operations } from '../fresh-proof.ts';

it('every form of the console declares the operations that it carries out, which decide on a fresh sign-in', () => {
  const routers = [
    ...createConsole(anyDependency),
    ...createDiagnostics(anyDependency).routers,
    ...createTestBench(anyDependency),
  ];
  const forms = routers.flatMap(({ stack }) =>
    stack.filter(({ methods }) => methods.includes('POST')).map(({ path }) => String(path)),
  );
  expect(Object.keys(consoleForms).sort()).toEqual(forms.sort());
  const named = Object.values(consoleForms).flatMap((decision) => (typeof decision === 'string' ? [] : decision));
  expect(named.filter((operation) => !(operation in operations))).toEqual([]);
});
