// A name whose addresses a test chooses, in place of the system's look-up, also for modules that were loaded before.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

export interface TestName {
  /** One list for each look-up; the last one stays. */
  answers: string[][];
  /** How often it was looked up. */
  asked: number;
  restore(): void;
}

export function testName(hostname: string): TestName {
  const { lookup } = dns;
  const setLookup = (given: unknown) => {
    Object.assign(dns, { lookup: given });
    syncBuiltinESMExports();
  };
  const name: TestName = { answers: [], asked: 0, restore: () => setLookup(lookup) };
  setLookup((asked: string, options: object, found: (error: Error | null, ...rest: unknown[]) => void) => {
    if (asked !== hostname) return lookup(asked, options as dns.LookupAllOptions, found as never);
    name.asked += 1;
    const addresses = (name.answers.length > 1 ? name.answers.shift() : name.answers[0]) ?? [];
    found(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  });
  return name;
}
