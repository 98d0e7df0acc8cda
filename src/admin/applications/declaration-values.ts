// What a declaration says after a change by merge patch.
import type { Declaration } from './saml-declarations.ts';

/** JSON merge patch, RFC 7396 section 2. */
export function mergePatch(target: unknown, patch: unknown): Declaration {
  const merged: Declaration = isGroup(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(isGroup(patch) ? patch : {})) {
    if (key === '__proto__') continue;
    if (value === null) delete merged[key];
    else merged[key] = isGroup(value) && isGroup(merged[key]) ? mergePatch(merged[key], value) : value;
  }
  return merged;
}

function isGroup(value: unknown): value is Declaration {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
