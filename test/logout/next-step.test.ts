// The order of a sign-out, as a table: rows of participants and the time in, the next step out.
import { describe, expect, it } from 'vitest';
import { nextStep, type ParticipantStatus } from '../../src/logout/next-step.ts';

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
    ['nobody took part', [], { kind: 'complete' }],
    ['all are settled', [hop('a', { state: 'done' }), hop('b', { state: 'failed' })], { kind: 'complete' }],
    ['a call that failed goes on without it', [hop('a', { channel: 'back', state: 'retrying' })], { kind: 'complete' }],
    [
      'nobody knows yet who answers',
      [
        hop('a', { probeResult: undefined }),
        hop('b', { channel: 'front', probeResult: undefined }),
        hop('c', { channel: 'back' }),
      ],
      { kind: 'probe', ids: ['a', 'b'] },
    ],
    ['frames come first', [hop('a', {}), hop('b', { channel: 'front' })], { kind: 'frames', ids: ['b'], seconds: 3 }],
    [
      'frames are displayed again while there is time',
      [hop('b', { channel: 'front', state: 'asked', deadline: inSeconds(2) })],
      { kind: 'frames', ids: ['b'], seconds: 2 },
    ],
    [
      'frames had their time',
      [hop('b', { channel: 'front', state: 'asked', deadline: now })],
      { kind: 'leave-frames', ids: ['b'] },
    ],
    [
      'the first service provider',
      [hop('a', {}), hop('b', { channel: 'post' })],
      { kind: 'visit', ids: ['a'], inFrame: false },
    ],
    [
      'those that would keep the window come after those that come back, in a frame',
      [hop('a', { probeResult: 'dead' }), hop('b', { probeResult: 'keeps' }), hop('c', { probeResult: 'confirmed' })],
      { kind: 'visit', ids: ['c'], inFrame: false },
    ],
    [
      'one where the window may get stuck comes last',
      [hop('a', { channel: 'post', probeResult: 'unknown' }), hop('b', { probeResult: 'keeps' })],
      { kind: 'visit', ids: ['b'], inFrame: true },
    ],
    [
      'and is visited in the window, where its cookies are',
      [hop('a', { probeResult: 'unknown' })],
      { kind: 'visit', ids: ['a'], inFrame: false },
    ],
    ['only the dead one is left', [hop('a', { probeResult: 'dead' })], { kind: 'visit', ids: ['a'], inFrame: true }],
    [
      'all dead ones at once, before those that would keep the window',
      [
        hop('a', { probeResult: 'dead' }),
        hop('b', { probeResult: 'keeps' }),
        hop('c', { probeResult: 'dead', channel: 'post' }),
      ],
      { kind: 'visit', ids: ['a', 'c'], inFrame: true },
    ],
    [
      'a frame that was displayed is displayed again while there is time',
      [hop('a', { probeResult: 'dead', deadline: inSeconds(2) })],
      { kind: 'visit', ids: ['a'], inFrame: true },
    ],
    [
      'a frame that never opened had its time',
      [hop('a', { probeResult: 'keeps', deadline: now })],
      { kind: 'give-up', id: 'a' },
    ],
    [
      'one at a time',
      [hop('a', { state: 'asked', deadline: inSeconds(4) }), hop('b', {})],
      { kind: 'wait', id: 'a', inFrame: false, seconds: 4 },
    ],
    ['too late', [hop('a', { state: 'asked', deadline: inSeconds(0) }), hop('b', {})], { kind: 'give-up', id: 'a' }],
  ])('follows from: %s', (_name, hops, step) => {
    expect(next(hops)).toEqual(step);
  });

  it('waits a little for the first results of the deliveries', () => {
    const calls = [hop('a', { channel: 'back' }), hop('b', { channel: 'soap' })];
    expect(next(calls, inSeconds(-1))).toEqual({ kind: 'settle', seconds: 1 });
    expect(next(calls, inSeconds(-4))).toEqual({ kind: 'complete' });
  });
});
