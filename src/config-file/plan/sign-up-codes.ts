// Plans the codes with which people sign up: the file's declarations against the stored ones.
import type { SignUpCode, SignUpCodes } from '../../people/sign-up-codes/sign-up-codes.ts';
import type { DeclaredSignUpCode } from '../schema.ts';
import {
  differences,
  type FieldChange,
  nothingPlanned,
  type Planned,
  type PlanOptions,
  secretChange,
  secretSet,
  takeOver,
} from './steps.ts';

const TAKEN = 'is already the code of another sign-up code';

export async function planSignUpCodes(
  declared: readonly DeclaredSignUpCode[],
  codes: SignUpCodes,
  { hidesSecrets = false }: PlanOptions = {},
): Promise<Planned> {
  const plan = nothingPlanned();
  const stored = new Map((await codes.list()).map((code) => [code.name, code]));
  for (const [index, entry] of declared.entries()) {
    const { name, code } = entry;
    const before = stored.get(name);
    stored.delete(name);
    if (!before && code === undefined) {
      plan.warnings.push(`sign-up code ${name} is left out: the file has no code for it, and none is stored`);
      continue;
    }
    const wanted = {
      name,
      code,
      maxUses: entry.max_uses,
      expiresAt: entry.expires_at ? new Date(entry.expires_at) : null,
    };
    const fault = (message: string) => plan.faults.push({ path: ['sign_up_codes', index, 'code'], message });
    const secret: FieldChange[] = [];
    if (code !== undefined && hidesSecrets) secret.push(secretSet('code'));
    else if (code !== undefined) {
      const comparison = await codes.compare(name, code);
      if (comparison === 'taken') fault(TAKEN);
      if (comparison !== 'same') secret.push(secretChange('code'));
    }
    const fields = [
      ...differences(before ? fieldsOf(before) : {}, fieldsOf(wanted)),
      ...secret,
      ...(before ? takeOver(before.source) : []),
    ];
    if (fields.length === 0) plan.unchanged += 1;
    else {
      const kind = before ? 'change' : 'create';
      plan.steps.push({ kind, section: 'sign_up_codes', name, fields, run: (tx) => codes.declare(wanted, tx) });
    }
  }
  for (const { name, source } of stored.values()) {
    if (source !== 'file') continue;
    const run: Planned['steps'][number]['run'] = (tx) => codes.removeDeclared(name, tx);
    plan.steps.push({ kind: 'delete', section: 'sign_up_codes', name, fields: [], run });
  }
  return plan;
}

function fieldsOf({ maxUses, expiresAt }: Pick<SignUpCode, 'maxUses' | 'expiresAt'>) {
  return { max_uses: maxUses, expires_at: expiresAt?.toISOString() };
}
