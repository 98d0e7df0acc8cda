// The errors of the network, TLS and directories as sentences for administrators.
import { describe, expect, it } from 'vitest';
import { networkSentence } from '../../src/federation/connections/network-sentences.ts';

const sentenceOf = (error: string) => String(networkSentence(error) ?? '');

describe('an error of the network', () => {
  it.each([
    [
      'https://a.example could not be reached: connect ECONNREFUSED 127.0.0.1:9',
      /^The server refused the connection\./,
    ],
    ['https://a.example could not be reached: ECONNREFUSED', /^The server refused the connection\./],
    ['https://a.example could not be reached: getaddrinfo ENOTFOUND a.example', /^There is no server a\.example\./],
    ['getaddrinfo EAI_AGAIN a.example', /^The DNS didn’t respond to the question for a\.example\./],
    ['https://a.example did not answer in 5000 ms', /^The server didn’t respond in time\./],
    ['Connection timeout', /^The server didn’t respond in time\./],
    ['connect EHOSTUNREACH 10.0.0.1:443', /^No network leads to the server\./],
    ['read ECONNRESET', /^The server closed the connection without a response\./],
    ['Client network socket disconnected before secure TLS connection was established', /^The server closed/],
    ['https://a.example could not be reached: certificate has expired', /^The certificate of the server has expired\./],
    [
      "Hostname/IP does not match certificate's altnames: Host: a",
      /^The certificate of the server is for another host/,
    ],
    ['self-signed certificate in certificate chain', /^This server doesn’t trust the authority/],
    ['unable to verify the first certificate', /^This server doesn’t trust the authority/],
    ['write EPROTO 0A00010B:SSL routines:ssl3_get_record:wrong version number', /^The server doesn’t respond with TLS/],
    [
      '10.0.0.1 is in a private or special network; to allow calls, add the network',
      /^The server is in a private network/,
    ],
  ])('%s', (error, sentence) => {
    expect(sentenceOf(error)).toMatch(sentence);
  });

  it('leaves other errors as they are', () => {
    expect(networkSentence('The response isn’t JSON.')).toBeUndefined();
  });
});
