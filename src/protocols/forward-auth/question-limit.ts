// How many questions without a session are answered in a second, all together and of one address: those of browsers that began a sign-in, and
// all others.

import { limits } from '../../base/limits.ts';
import type { Core } from '../../core/core.ts';
import { siteBlock } from '../../people/rate-limits/policies.ts';

const kinds = ['begun', 'unknown'] as const;
export type LimitedKind = (typeof kinds)[number];

export function createQuestionLimit({ logger, now, settings }: Core) {
  let answered = newSecond(0);

  function thisSecond(): typeof answered {
    const second = Math.floor(now().getTime() / 1000);
    if (answered.second !== second) answered = newSecond(second);
    return answered;
  }

  return {
    /** Whether the limit is on and an address may have had its share: none has more than all together. */
    isNear(): boolean {
      const { begun, unknown } = thisSecond();
      const most = Math.max(begun, unknown);
      return !isBelowShare(most, most) && settings.latest().rate_limits;
    },

    /** The kinds of which the address has had its share of this second. */
    kindsOver(address: string): LimitedKind[] {
      const second = thisSecond();
      const block = siteBlock(address);
      return kinds.filter((kind) => !isBelowShare(second.byAddress.get(`${kind} ${block}`) ?? 0, second[kind]));
    },

    count(kind: LimitedKind, address: string): void {
      const second = thisSecond();
      const block = siteBlock(address);
      const key = `${kind} ${block}`;
      const ofAddress = (second.byAddress.get(key) ?? 0) + 1;
      second.byAddress.set(key, ofAddress);
      second[kind] += 1;
      if (second.isLogged || isBelowShare(ofAddress, second[kind]) || !settings.latest().rate_limits) return;
      second.isLogged = true;
      const about = { kind, address: block, ofAddress, all: second[kind] };
      logger.warn(about, 'more questions without a session are rejected');
    },
  };
}

const newSecond = (second: number) => ({
  second,
  begun: 0,
  unknown: 0,
  byAddress: new Map<string, number>(),
  isLogged: false,
});

/** An address has a part of what the others leave, so a few never use up all (A. Choudhury, E. Hahne, Dynamic Queue Length Thresholds). */
function isBelowShare(ofAddress: number, all: number): boolean {
  const { perSecond, share } = limits.questionsWithoutSession;
  return ofAddress < (perSecond - all) * share;
}
