// The files of oidc-provider that src/protocols/oidc/engine/library.ts imports: what the index of the package exports.
import { describe, expect, it, vi } from 'vitest';
import { errors, interactionPolicy, Provider } from '../../src/protocols/oidc/engine/library.ts';

describe('the files of oidc-provider that are imported', () => {
  it('are those that its index exports', async () => {
    vi.spyOn(console, 'info').mockReturnValue();
    vi.spyOn(console, 'warn').mockReturnValue();
    const index = await import('oidc-provider');
    expect(index.Provider).toBe(Provider);
    expect(index.errors.InvalidRequest).toBe(errors.InvalidRequest);
    expect(index.interactionPolicy.Check).toBe(interactionPolicy.Check);
  });
});
