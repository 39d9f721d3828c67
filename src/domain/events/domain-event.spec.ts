import { describe, expect, it } from '@jest/globals';
import { CATALOGUE, type DomainEvent } from './catalogue.js';
import { domainEventOf, isEventType, isIn } from './domain-event.js';

describe('a stored event', () => {
  it('becomes a fact when its type is registered and its payload fits', () => {
    expect(domainEventOf('tool.call.not_executed', { reason: 'stopped' })).toEqual({
      type: 'tool.call.not_executed',
      payload: { reason: 'stopped' },
    });
  });

  it('of an unregistered type, a word of every object included, stops the work', () => {
    expect(() => domainEventOf('tool.call.exploded', {})).toThrow('not registered');
    expect(() => domainEventOf('toString', {})).toThrow('not registered');
    expect(isEventType('constructor')).toBe(false);
  });

  it('whose payload does not fit stops the work, naming the field and not the value', () => {
    expect(() => domainEventOf('tool.call.not_executed', { reason: 'sk_live_1' })).toThrow(
      'payload of tool.call.not_executed: field reason is not one of its words',
    );
    expect(() => domainEventOf('tool.call.not_executed', { reason: 'stopped', by: 'x' })).toThrow('unknown field by');
  });
});

describe('the stream of an event', () => {
  it('is the one the catalogue names', () => {
    const event: DomainEvent = { type: 'approval.closed', payload: { reason: 'stopped' } };
    expect(isIn('approval', event)).toBe(true);
    expect(isIn('call', event)).toBe(false);
    expect(CATALOGUE['policy.decided'].stream).toBe('call');
  });
});
