"""The format of encrypted rooms (docs/encryption.md) in Python, to check ours against another implementation.

Needs PyNaCl (Debian: python3-nacl). Reads one JSON object with "roomKey", "roomCode", "salt" and "tasks" from standard
input, and writes the list of results. Bytes are hexadecimal.
"""

import base64
import hashlib
import hmac
import json
import os
import sys

from nacl import bindings as sodium
from nacl.exceptions import CryptoError

CHUNK = 64 * 1024
HEADER = b"POPENC1\n"
SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MINIMUM = {"text": 256, "snapshot": 256, "edit": 256, "file": 256, "device": 64, "room": 64}


def hkdf_expand(key, info):
    """HKDF-Expand of RFC 5869 for 32 bytes, which are one block."""
    return hmac.digest(key, info + b"\x01", "sha256")


def read_room_key(typed):
    key = typed.upper().replace("-", "").replace(" ", "").replace("O", "0").replace("I", "1").replace("L", "1")
    check = hashlib.sha256(b"poproom/v1/check" + key[:15].encode()).digest()[0] >> 3
    if len(key) != 16 or key[15] != SYMBOLS[check]:
        raise ValueError("room key")
    return key


def derive_keys(room_key, salt):
    password = read_room_key(room_key).encode()
    master = hashlib.scrypt(
        password, salt=b"poproom/v1" + salt, n=2**15, r=8, p=1, dklen=32, maxmem=64 * 1024 * 1024
    )
    return {purpose: hkdf_expand(master, b"poproom/v1/" + purpose.encode()) for purpose in ("auth", "text", "meta", "file")}


def padme(size, minimum):
    if size <= minimum:
        return minimum
    exponent = size.bit_length() - 1
    mask = (1 << (exponent - exponent.bit_length())) - 1
    return (size + mask) & ~mask


def associated_data(kind, code, version, subject):
    return f"poproom/v1/{kind}\0{code}\0".encode() + version.to_bytes(8, "big") + subject.encode()


def seal(key, kind, code, version, subject, previous, payload, nonce):
    content = previous + payload + b"\x80"
    padded = content.ljust(padme(len(content), MINIMUM[kind]), b"\0")
    data = associated_data(kind, code, version, subject)
    sealed = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(padded, data, nonce, key)
    return "pop1." + base64.urlsafe_b64encode(nonce + sealed).decode().rstrip("=")


def open_envelope(key, kind, code, version, subject, envelope):
    if not envelope.startswith("pop1."):
        raise ValueError("prefix")
    text = envelope[len("pop1.") :]
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    data = associated_data(kind, code, version, subject)
    padded = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(raw[24:], data, raw[:24], key)
    content = padded.rstrip(b"\0")
    if not content.endswith(b"\x80") or len(padded) != padme(len(content), MINIMUM[kind]):
        raise ValueError("padding")
    return content[:16], content[16:-1]


def full_text(recent, text):
    """The payload of a text or a snapshot: the hashes of versions before it, newest first, and the text."""
    if len(recent) > 64 or any(len(digest) != 16 for digest in recent):
        raise ValueError("recent hashes")
    return bytes([len(recent)]) + b"".join(recent) + text


def open_full_text(payload):
    if not payload or payload[0] > 64 or len(payload) < 1 + 16 * payload[0]:
        raise ValueError("recent hashes")
    end = 1 + 16 * payload[0]
    return [payload[at : at + 16] for at in range(1, end, 16)], payload[end:]


def file_key(root, salt):
    return hkdf_expand(hmac.digest(salt, root, "sha256"), b"poproom/v1/file-key")


def chunk_nonce(index, is_last):
    return index.to_bytes(11, "big") + (b"\x01" if is_last else b"\x00")


def encrypt_file(root, salt, content):
    key = file_key(root, salt)
    padded = content.ljust(padme(len(content), 256), b"\0")
    count = -(-len(padded) // CHUNK)
    chunks = [padded[index * CHUNK : (index + 1) * CHUNK] for index in range(count)]
    return HEADER + b"".join(
        sodium.crypto_aead_chacha20poly1305_ietf_encrypt(chunk, None, chunk_nonce(index, index == count - 1), key)
        for index, chunk in enumerate(chunks)
    )


def decrypt_file(root, salt, size, body):
    key = file_key(root, salt)
    padded_size = padme(size, 256)
    count = -(-padded_size // CHUNK)
    if not body.startswith(HEADER) or len(body) != len(HEADER) + padded_size + 16 * count:
        raise ValueError("size")
    padded = b""
    for index in range(count):
        start = len(HEADER) + index * (CHUNK + 16)
        nonce = chunk_nonce(index, index == count - 1)
        padded += sodium.crypto_aead_chacha20poly1305_ietf_decrypt(body[start : start + CHUNK + 16], None, nonce, key)
    if padded[size:].strip(b"\0"):
        raise ValueError("padding")
    return padded[:size]


def run(task, keys, code):
    action = task["action"]
    if action == "keys":
        return {**{name: key.hex() for name, key in keys.items()}, "verifier": hashlib.sha256(keys["auth"]).hexdigest()}
    if action == "encrypt-file":
        return encrypt_file(keys["file"], bytes.fromhex(task["salt"]), bytes.fromhex(task["content"])).hex()
    if action == "decrypt-file":
        body = bytes.fromhex(task["body"])
        return decrypt_file(keys["file"], bytes.fromhex(task["salt"]), task["size"], body).hex()
    key = keys["text" if task["kind"] in ("text", "snapshot", "edit") else "meta"]
    place = (key, task["kind"], code, task["version"], task["subject"])
    is_full_text = task["kind"] in ("text", "snapshot")
    if action == "seal":
        payload = task["payload"].encode()
        if is_full_text:
            payload = full_text([bytes.fromhex(digest) for digest in task["recent"]], payload)
        nonce = bytes.fromhex(task["nonce"]) if "nonce" in task else os.urandom(24)
        return seal(*place, bytes.fromhex(task["previous"]), payload, nonce)
    if action == "hash":
        return hashlib.sha256(task["envelope"].encode()).digest()[:16].hex()
    previous, payload = open_envelope(*place, task["envelope"])
    recent, payload = open_full_text(payload) if is_full_text else ([], payload)
    return {"previous": previous.hex(), "recent": [digest.hex() for digest in recent], "payload": payload.decode()}


def attempt(task, keys, code):
    try:
        return run(task, keys, code)
    except (CryptoError, ValueError):
        return "refused"


if __name__ == "__main__":
    request = json.load(sys.stdin)
    room_keys = derive_keys(request["roomKey"], bytes.fromhex(request["salt"]))
    json.dump([attempt(task, room_keys, request["roomCode"]) for task in request["tasks"]], sys.stdout)
