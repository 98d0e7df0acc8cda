// `sign_up_codes`: the codes with which people sign up.

import { fault } from '../../base/texts/faults.ts';
import type { People } from '../../people/people.ts';
import { changeOfSecret, differences, type Planned, type Planning, planEntries } from '../planning.ts';
import { signUpCode, withoutDefaults } from '../schema.ts';

export async function planSignUpCodes(planning: Planning): Promise<Planned> {
  const { signUpCodes, declared, hidesSecrets } = planning;
  return planEntries({
    section: 'sign_up_codes',
    declared: declared.sign_up_codes,
    stored: new Map((await signUpCodes.list()).map((code) => [code.name, code])),
    nameOf: ({ name }) => name,
    async compare({ name, code, max_uses: maxUses, expires_at }, take) {
      const before = take(name);
      if (!before && code === undefined)
        return { warnings: [`sign-up code ${name} is left out: the file has no code for it, and none is stored`] };
      const wanted = { name, code, maxUses, expiresAt: expires_at ? new Date(expires_at) : null };
      // Compared with the hashes of all codes.
      const comparison = code === undefined || hidesSecrets ? undefined : await signUpCodes.compare(name, code);
      return {
        name,
        faults: comparison === 'taken' ? [fault(['code'], 'code-taken')] : [],
        fields: [
          ...differences(before ? fieldsOf(before) : {}, fieldsOf(wanted)),
          ...(await changeOfSecret(planning, 'code', code, before && (() => comparison === 'same'))),
        ],
        store: (tx) => signUpCodes.declare(wanted, tx),
      };
    },
    remove: ({ name }, tx) => signUpCodes.removeDeclared(name, tx),
  });
}

/** Without the codes, of which only hashes are stored. */
export async function exportSignUpCodes({ signUpCodes }: People) {
  const usable = (await signUpCodes.list()).filter(({ state }) => state === 'usable');
  return usable.map(({ name, ...code }) => ({
    name,
    ...withoutDefaults(fieldsOf(code), signUpCode.parse({ name })),
  }));
}

function fieldsOf({ maxUses, expiresAt }: { maxUses: number; expiresAt: Date | null }) {
  return { max_uses: maxUses, expires_at: expiresAt?.toISOString() };
}
