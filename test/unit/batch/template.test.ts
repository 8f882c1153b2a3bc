import { describe, expect, it } from 'vitest';
import { NameTemplate } from '../../../src/batch/template.ts';

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
  ])('%s has the fixed folder %s', (template, folder, name) => {
    expect(new NameTemplate(template).fixedFolder).toBe(folder);
    expect(nameOf(template, { id: 'a', lang: 'de' })).toBe(name);
  });

  it('lets a value make folders', () => {
    expect(nameOf('{id}.wav', { id: 'menu/main' })).toBe('menu/main.wav');
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
    ['a/nul', 'Windows keeps'],
    ['aux:', 'Windows keeps'],
    ['nul:stream', 'Windows keeps'],
    ['con /x', 'Windows keeps'],
    ['prn .txt', 'Windows keeps'],
    ['CONIN$', 'Windows keeps'],
    ['<x>', 'Windows forbids'],
    ['a*?', 'Windows forbids'],
    ['ab:c', 'Windows forbids'],
    ['a./x', 'Windows drops'],
    ['a /x', 'Windows drops'],
    ['a\u0000b', 'control character'],
    ['a\nb', 'control character'],
    ['a\ud800', 'half a character'],
    ['', 'empty'],
    ['x'.repeat(300), 'too long'],
  ])('refuses the value %j', (id, message) => {
    expect(() => nameOf('out/{id}.wav', { id })).toThrow(message);
  });

  it('refuses what only becomes another folder beside its neighbours', () => {
    expect(() => nameOf('out/{a}{b}/x.wav', { a: '.', b: '.' })).toThrow('leads to another folder');
  });

  it('names the column whose value is missing', () => {
    expect(() => nameOf('{lang}/{id}.wav', { id: 'a' })).toThrow(
      expect.objectContaining({ column: 'lang', message: 'the row has no such value' }),
    );
  });
});
