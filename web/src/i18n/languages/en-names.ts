/** English: the words of the names that devices get. Only rooms need them, so the home page does not load them. */

export const strings = {
  /** The first words, what is between them, and the second words. Every first word fits every second one. */
  friendlyNames:
    'Bold|Brave|Bright|Calm|Cheery|Clever|Cosy|Curious|Eager|Fair|Gentle|Happy|Honest|Jolly|Keen|Kind|Lively|Lucky|Merry|Mild|Nimble|Patient|Proud|Quick|Quiet|Sunny|Swift|Witty; ;Badger|Bear|Beaver|Bison|Camel|Crane|Deer|Dolphin|Eagle|Falcon|Finch|Fox|Gecko|Hare|Hawk|Hedgehog|Heron|Ibex|Jaguar|Koala|Lark|Lemur|Lion|Lynx|Marten|Moose|Otter|Owl|Panda|Parrot|Penguin|Pony|Puffin|Rabbit|Raven|Robin|Seal|Sparrow|Swan|Tiger|Turtle|Wolf',
};
