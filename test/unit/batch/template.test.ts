import { describe, expect, it } from 'vitest';
import { NameTemplate } from '../../../src/batch/plan.ts';

const nameOf = (template: string, cells: Record<string, string>) =>
  new NameTemplate(template).nameOf((column) => cells[column]);

describe('the template of names', () => {
  it.each([
    ['{id}.wav', '.', 'a.wav'],
    ['prompts/{lang}/{id}.wav', 'prompts', 'de/a.wav'],
    ['prompts/x-{lang}-{id}.wav', 'prompts', 'x-de-a.wav'],
    ['/srv/{id}.wav', '/srv', 'a.wav'],
    ['/{id}.wav', '/', 'a.wav'],
    ['../out/{id}.wav', '../out', 'a.wav'],
    ['out/one.wav', 'out', 'one.wav'],
    [`out/${'x'.repeat(250)}{id}.wav`, 'out', `${'x'.repeat(250)}a.wav`],
  ])('%s has the fixed folder %s', (template, folder, name) => {
    expect(new NameTemplate(template).fixedFolder).toBe(folder);
    expect(nameOf(template, { id: 'a', lang: 'de' })).toBe(name);
  });

  it('makes a safe name of a value, and remembers how many it has changed', () => {
    const template = new NameTemplate('out/{id} {title}.wav');
    const name = (title: string) =>
      template.nameOf((column) => ({ id: '01', title })[column as 'id' | 'title']);
    expect(name('Chapter 1: What? A/B')).toBe('01 Chapter 1_ What_ A_B.wav');
    expect(name('a:b?c*d|e')).toBe('01 a_b_c_d_e.wav');
    expect(name('"quoted" <x> \\')).toBe('01 _quoted_ _x_ _.wav');
    expect(name('plain')).toBe('01 plain.wav');
    expect(template.changed).toEqual({
      count: 3,
      first: ['Chapter 1: What? A/B', 'Chapter 1_ What_ A_B'],
    });
  });

  it('lets the template alone make folders', () => {
    expect(nameOf('{lang}/{id}.wav', { id: 'menu/main', lang: 'de' })).toBe('de/menu_main.wav');
  });

  it.each([
    ['{id', 'brace'],
    ['{}.wav', 'brace'],
    ['id}.wav', 'brace'],
    ['out/', 'one file for each row'],
    ['-', 'one file for each row'],
  ])('refuses %s', (template, message) => {
    expect(() => new NameTemplate(template)).toThrow(message);
  });

  it.each([
    ['..', 'leads to another folder'],
    ['../x', 'leads to another folder'],
    ['x/../../y', 'leads to another folder'],
    ['x\\..\\y', 'leads to another folder'],
    ['/etc/x', 'absolute'],
    ['C:\\x', 'absolute'],
    ['con', 'Windows keeps'],
    ['LPT1', 'Windows keeps'],
    ['prn .txt', 'Windows keeps'],
    ['CONIN$', 'Windows keeps'],
    ['a\u0000b', 'control character'],
    ['a\nb', 'control character'],
    ['a\ud800', 'half a character'],
    ['', 'empty'],
    ['x'.repeat(252), 'too long'],
  ])('refuses the value %j', (id, message) => {
    expect(() => nameOf('out/{id}.wav', { id })).toThrow(message);
  });

  it.each([
    ['out/{id}?.wav', 'Windows forbids'],
    ['out/{id}./x.wav', 'Windows drops'],
    ['out/{id} /x.wav', 'Windows drops'],
  ])('refuses the template %s', (template, message) => {
    expect(() => nameOf(template, { id: 'a' })).toThrow(message);
  });

  it('refuses what only becomes another folder next to its neighbours', () => {
    expect(() => nameOf('out/{a}{b}/x.wav', { a: '.', b: '.' })).toThrow('leads to another folder');
  });

  it('names the column whose value is missing', () => {
    expect(() => nameOf('{lang}/{id}.wav', { id: 'a' })).toThrow(
      expect.objectContaining({ column: 'lang', message: 'the row has no such value' }),
    );
  });
});
