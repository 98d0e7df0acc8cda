// The order of a sign-out, as a table: rows of participants and the time in, the next step out.
import { describe, expect, it } from 'vitest';
import { nextStep, type ParticipantStatus } from '../../src/protocols/logout/front-channel/next-step.ts';

const now = new Date('2031-05-04T10:00:00Z');
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const hop = (id: string, changes: Partial<ParticipantStatus>): ParticipantStatus => ({
  id,
  channel: 'redirect',
  state: 'waiting',
  probeResult: 'answers',
  deadline: undefined,
  ...changes,
});
const next = (hops: ParticipantStatus[], startedAt = inSeconds(-60)) => nextStep(hops, startedAt, now);

describe('the next step of a logout run', () => {
  it.each<[string, ParticipantStatus[], object]>([
    ['no participant', [], { kind: 'complete' }],
    [
      'all participants are settled',
      [hop('a', { state: 'done' }), hop('b', { state: 'failed' })],
      { kind: 'complete' },
    ],
    [
      'a failed delivery that is retried in the background',
      [hop('a', { channel: 'back', state: 'retrying' })],
      { kind: 'complete' },
    ],
    [
      'participants without a probe result',
      [
        hop('a', { probeResult: undefined }),
        hop('b', { channel: 'front', probeResult: undefined }),
        hop('c', { channel: 'back' }),
      ],
      { kind: 'probe', ids: ['a', 'b'] },
    ],
    [
      'an OIDC participant before a SAML one',
      [hop('a', {}), hop('b', { channel: 'front' })],
      { kind: 'frames', ids: ['b'], seconds: 3 },
    ],
    [
      'an open frame before its deadline',
      [hop('b', { channel: 'front', state: 'sent', deadline: inSeconds(2) })],
      { kind: 'frames', ids: ['b'], seconds: 2 },
    ],
    [
      'a frame after its deadline',
      [hop('b', { channel: 'front', state: 'sent', deadline: now })],
      { kind: 'leave-frames', ids: ['b'] },
    ],
    [
      'two service providers that answer',
      [hop('a', {}), hop('b', { channel: 'post' })],
      { kind: 'visit', ids: ['a'], inFrame: false },
    ],
    [
      'one that returns the browser before those in frames',
      [
        hop('a', { probeResult: 'unreachable' }),
        hop('b', { probeResult: 'no-return' }),
        hop('c', { probeResult: 'confirmed' }),
      ],
      { kind: 'visit', ids: ['c'], inFrame: false },
    ],
    [
      'one in a frame before one that may keep the browser',
      [hop('a', { channel: 'post', probeResult: 'unknown' }), hop('b', { probeResult: 'no-return' })],
      { kind: 'visit', ids: ['b'], inFrame: true },
    ],
    [
      'one that could not be probed, in the window',
      [hop('a', { probeResult: 'unknown' })],
      { kind: 'visit', ids: ['a'], inFrame: false },
    ],
    [
      'one that is down, in a frame',
      [hop('a', { probeResult: 'unreachable' })],
      { kind: 'visit', ids: ['a'], inFrame: true },
    ],
    [
      'all that are down at once, before those that keep the browser',
      [
        hop('a', { probeResult: 'unreachable' }),
        hop('b', { probeResult: 'no-return' }),
        hop('c', { probeResult: 'unreachable', channel: 'post' }),
      ],
      { kind: 'visit', ids: ['a', 'c'], inFrame: true },
    ],
    [
      'a frame of one that is down, before its deadline',
      [hop('a', { probeResult: 'unreachable', deadline: inSeconds(2) })],
      { kind: 'visit', ids: ['a'], inFrame: true },
    ],
    [
      'a frame that never opened, after its deadline',
      [hop('a', { probeResult: 'no-return', deadline: now })],
      { kind: 'give-up', id: 'a' },
    ],
    [
      'one whose answer is pending',
      [hop('a', { state: 'sent', deadline: inSeconds(4) }), hop('b', {})],
      { kind: 'wait', id: 'a', inFrame: false, seconds: 4 },
    ],
    [
      'one whose answer is late',
      [hop('a', { state: 'sent', deadline: inSeconds(0) }), hop('b', {})],
      { kind: 'give-up', id: 'a' },
    ],
  ])('follows from: %s', (_name, hops, step) => {
    expect(next(hops)).toEqual(step);
  });

  it('waits a little for the first results of the deliveries', () => {
    const calls = [hop('a', { channel: 'back' }), hop('b', { channel: 'soap' })];
    expect(next(calls, inSeconds(-1))).toEqual({ kind: 'settle', seconds: 1 });
    expect(next(calls, inSeconds(-4))).toEqual({ kind: 'complete' });
  });
});
