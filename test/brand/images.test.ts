// Pictures that are sent for a brand: what is left of them, and what is rejected.

import { describe, expect, it } from 'vitest';
import { perform } from '../../src/applications/brand/images/task.ts';
import { sentenceOf } from '../../src/base/texts/faults.ts';
import fc from '../support/property.ts';
import { aJpeg, aPng, aSvg, aWebp, pngChunk } from './pictures.ts';

/** The picture that is stored. */
function written(bytes: Buffer): { text: string; bytes: Buffer; size: string } {
  const result = perform({ bytes });
  if ('fault' in result) throw new Error(result.fault.code);
  const { image } = result;
  const content = Buffer.from(image.bytes);
  return { text: content.toString('latin1'), bytes: content, size: `${image.kind} ${image.width}x${image.height}` };
}

const faultOf = (bytes: Buffer) => {
  const result = perform({ bytes });
  return 'fault' in result ? sentenceOf(result.fault, 'It') : undefined;
};

const svgOf = (inside: string, attributes?: string) => written(aSvg(inside, attributes)).text;

describe('a picture', () => {
  it.each([
    ['PNG', aPng(), 'png 8x4'],
    ['PNG with interlaced lines', aPng({ width: 1, height: 1, interlace: 1 }), 'png 1x1'],
    ['JPEG', aJpeg(), 'jpg 16x8'],
    ['SVG', aSvg(), 'svg 40x10'],
  ])('is written again as the same %s, also a second time', (_, bytes, size) => {
    const first = written(bytes);
    expect(first.size).toBe(size);
    expect(written(first.bytes).bytes.equals(first.bytes)).toBe(true);
  });

  const secret = Buffer.from('<script>alert(1)</script>');
  const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, secret.length + 2]), secret]);
  it.each([
    ['a PNG in a text', aPng({ before: [pngChunk('tEXt', secret)] })],
    ['a PNG behind its end', aPng({ after: secret })],
    ['a JPEG in a comment', aJpeg({ extra: comment })],
    ['a JPEG behind its end', aJpeg({ after: secret })],
  ])('loses what hides in %s', (_, bytes) => {
    expect(bytes.toString('latin1')).toContain(secret);
    expect(written(bytes).bytes.toString('latin1')).not.toContain(secret);
  });

  it.each([
    ['text', Buffer.from('hello'), /^It must be a PNG, JPEG or SVG picture.$/],
    ['HTML', Buffer.from('<html><svg xmlns="http://www.w3.org/2000/svg"/></html>'), /^It must be a PNG/],
    ['a GIF', Buffer.from('GIF89a...'), /^It must be a PNG/],
    ['an empty PNG', aPng({ width: 0 }), /has no dimensions/],
    ['a PNG with too many pixels', aPng({ width: 4000, height: 4000, lines: Buffer.alloc(9) }), /4000 × 4000 pixels/],
    ['a PNG that inflates to more', aPng({ lines: Buffer.alloc(50_000_000) }), /damaged/],
    ['a PNG without all pixels', aPng({ lines: Buffer.alloc(3) }), /damaged/],
    ['a PNG with an unknown filter', aPng({ width: 1, height: 1, lines: Buffer.from([9, 0, 0, 0]) }), /damaged/],
    [
      'a PNG with a wrong checksum',
      Buffer.concat([aPng().subarray(0, 30), Buffer.from([1]), aPng().subarray(31)]),
      /damaged/,
    ],
    ['half a PNG', aPng().subarray(0, 40), /damaged/],
    ['half a JPEG', aJpeg().subarray(0, 60), /damaged/],
    ['a WebP', aWebp(), /^It must be a PNG/],
    ['an SVG with nothing in it', aSvg(''), /^It has no shapes.$/],
    [
      'an SVG of which nothing is left',
      aSvg('<iframe xmlns="http://www.w3.org/1999/xhtml" src="/"/>'),
      /^It has no shapes.$/,
    ],
    ['an SVG whose shapes are not drawn', aSvg('<defs><path d="M0 0h4"/></defs>'), /^It has no shapes.$/],
    ['an SVG without a size', aSvg('', ''), /has no viewBox/],
    [
      'an SVG that is no XML',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><g></svg>'),
      /damaged/,
    ],
    [
      'an SVG with entities',
      Buffer.from('<!DOCTYPE svg [<!ENTITY a "b">]><svg viewBox="0 0 1 1">&a;</svg>'),
      /entity declarations/,
    ],
    ['an SVG with a picture', aSvg('<image xlink:href="data:image/svg+xml;base64,AA"/>'), /<image> element/],
    ['an SVG with a copy of a part', aSvg('<defs><path id="b" d="M0 0"/></defs><use href="#b"/>'), /<use> element/],
    ['an SVG with a page', aSvg('<foreignObject><p>x</p></foreignObject>'), /<foreignObject> element/],
    ['an SVG with too many elements', aSvg('<g/>'.repeat(6000)), /too complex/],
    ['an SVG with deep elements', aSvg(`${'<g>'.repeat(200)}${'</g>'.repeat(200)}`), /too complex/],
  ])('is rejected with its reason when it is %s', (_, bytes, reason) => {
    expect(faultOf(bytes)).toMatch(reason);
  });

  it('may be any bytes without an error', () => {
    const starts = [aPng(), aJpeg(), aSvg()];
    const broken = fc
      .tuple(fc.constantFrom(...starts), fc.nat(), fc.uint8Array({ maxLength: 12 }))
      .map(([bytes, at, put]) =>
        Buffer.concat([bytes.subarray(0, at % bytes.length), put, bytes.subarray((at % bytes.length) + put.length)]),
      );
    fc.assert(
      fc.property(broken, (bytes) => {
        perform({ bytes });
      }),
      { numRuns: 300 },
    );
  });
});

describe('a JPEG', () => {
  const marker = (bytes: Buffer, code: number) => bytes.indexOf(Buffer.from([0xff, code]));
  const segment = (code: number, text: string) =>
    Buffer.concat([Buffer.from([0xff, code, 0, text.length + 2]), Buffer.from(text)]);

  it.each(['baseline', 'restarts', 'progressive'] as const)('has its pixels and no application data: %s', (kind) => {
    const bytes = aJpeg({ kind });
    const { text } = written(bytes);
    // The first segment is JFIF's, of 18 bytes.
    expect(text).toBe(bytes.toString('latin1').replace(/\xff\xe0.{16}/s, ''));
  });

  it.each([
    ['EXIF, with the place where it was taken', segment(0xe1, 'Exif\0\0 48.8584 N 2.2945 E')],
    ['a color profile', segment(0xe2, 'ICC_PROFILE\0')],
    ['data that only begins like that of Adobe', segment(0xee, 'Adobe and a long text')],
    ['a comment', segment(0xfe, '/*<script>alert(1)</script>')],
  ])('loses %s', (_, extra) => {
    const bytes = aJpeg({ extra });
    expect(written(bytes).bytes.equals(written(aJpeg()).bytes)).toBe(true);
  });

  it('has the segment that says how its colors are stored', () => {
    const adobe = segment(0xee, 'Adobe\0d\0\0\0\0\0');
    expect(written(aJpeg({ extra: adobe })).text).toContain(adobe.toString('latin1'));
  });

  it.each(['baseline', 'restarts', 'progressive'] as const)('is rejected wherever it is cut off: %s', (kind) => {
    const bytes = aJpeg({ kind });
    for (let length = 3; length < bytes.length - 1; length += 1)
      expect(faultOf(bytes.subarray(0, length)), `${length}`).toMatch(/damaged/);
  });

  it('is rejected when it is a bomb', () => {
    const bytes = aJpeg({ kind: 'progressive' });
    const large = Buffer.from(bytes);
    large.writeUInt16BE(65_535, marker(bytes, 0xc2) + 5);
    expect(faultOf(large)).toMatch(/65535 pixels/);
    const [scan, end] = [marker(bytes, 0xda), bytes.length - 2];
    const scans = Array.from({ length: 200 }, () => bytes.subarray(scan, end));
    expect(faultOf(Buffer.concat([bytes.subarray(0, scan), ...scans, bytes.subarray(end)]))).toMatch(/damaged/);
  });

  it('is rejected with a segment that browsers do not know', () => {
    expect(faultOf(aJpeg({ extra: segment(0xcc, 'arithmetic') }))).toMatch(/JPEG/);
  });
});

describe('an SVG', () => {
  it.each([
    ['<script>alert(1)</script>'],
    ['<path d="M0 0" onclick="alert(1)" onload="x"/>'],
    ['<a xlink:href="javascript:alert(1)"><path d="M0 0"/></a>'],
    ['<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>'],
    ['<path xmlns="http://www.w3.org/1999/xhtml" d="M0 0" id="foreign"/>'],
    ['<path fill="url(https://evil.example/x#a)" stroke="url( \'//evil.example\' )"/>'],
    ['<path style="fill:url(https://evil.example/x);behavior:url(x);-moz-binding:url(x)"/>'],
    ['<path style="fill:u\\72l(https://evil.example)"/>'],
    [
      '<style>@import url(https://evil.example); path{background:url(https://evil.example)} @font-face{src:url(x)}</style>',
    ],
    ['<style>path{fill:red}&lt;/style&gt;&lt;script&gt;alert(1)</style>'],
    ['<animate attributeName="href" values="javascript:alert(1)"/><set attributeName="onload" to="alert(1)"/>'],
    ['<?xml-stylesheet href="https://evil.example/x.css"?><!-- <script> -->'],
    ['<filter id="f"><feImage href="https://evil.example"/></filter><pattern id="p"/><marker id="m"/>'],
  ])('loses %s', (inside) => {
    const text = svgOf(`${inside}<rect/>`);
    expect(text).not.toMatch(
      /script|evil|javascript|onclick|onload|import|binding|behavior|foreign|<use|<image|animate|<set|<\?/i,
    );
    expect(text).not.toMatch(/<(filter|pattern|marker|a|body)\b|\\/);
  });

  it('has its shapes, gradients, styles and text', () => {
    const inside =
      '<style>.a{fill:#fff;stroke:url(#g)}</style><linearGradient id="g"><stop offset="0" stop-color="red"/></linearGradient>' +
      '<g class="a" transform="translate(1 2)"><path d="M0 0L1e-3,2z" fill="url(#g)"/><text x="1">A &amp; &lt;b&gt;</text></g>';
    expect(svgOf(inside)).toBe(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 10">${inside}</svg>`);
  });

  it('has the shapes inside of a link', () => {
    expect(svgOf('<a xlink:href="https://evil.example"><path d="M0 0"/></a>')).toContain('<g><path d="M0 0"/></g>');
  });

  it('has no mask inside of a mask, which could take hours to draw', () => {
    const text = svgOf(
      '<style>rect{mask:url(#b)!important}</style><mask id="a"><rect class="r" style="mask:url(#b);fill:red"/></mask><rect/>',
    );
    expect(text).not.toContain('!important');
    expect(text).toContain('style="fill:red;mask:none;clip-path:none"');
  });
});
