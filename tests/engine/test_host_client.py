"""How hosts are reached: proxies of the environment, what an address says of who asks, and what errors tell."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from demur.engine.base import EngineError
from demur.engine.host_client import HostClient

REPLY = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nset-cookie: a=b\r\n\r\nok"


class Host:
    """Answers everything, and keeps the heads of what it is asked."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.connections = 0
        self.address = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head)
                await reader.readexactly(2 if head.startswith("POST") else 0)
                writer.write(REPLY)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def listening(context: ssl.SSLContext | None = None) -> AsyncIterator[Host]:
    host = Host()
    async with await asyncio.start_server(host.answer, "127.0.0.1", 0, ssl=context) as server:
        host.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield host


async def ask(address: str, key: str | None = None, times: int = 1) -> None:
    client = HostClient(address, key, connect=5, read=5)
    try:
        for _ in range(times):
            async with client.reply("POST", "chat/completions", body=b"{}") as response:
                assert await response.content.read() == b"ok"
    finally:
        await client.aclose()


def asked(address: str, key: str | None = None, times: int = 1) -> Host:
    """The host after so many requests to `address`, in which HOST stands for its own."""

    async def run() -> Host:
        async with listening() as host:
            await ask(address.replace("HOST", host.address), key, times)
        return host

    return asyncio.run(run())


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http://", ""])
def test_a_proxy_of_the_environment_is_used(monkeypatch, name, scheme) -> None:
    async def run() -> Host:
        async with listening() as host:
            monkeypatch.setenv(name, f"{scheme}{host.address}")
            await ask("http://model.invalid/v1")
        return host

    assert asyncio.run(run()).heads[0].startswith("POST http://model.invalid/v1/chat/completions HTTP/1.1\r\n")


def test_not_for_hosts_that_it_is_not_for(monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert asked("http://HOST/v1").heads[0].startswith("POST /v1/chat/completions HTTP/1.1\r\n")


def test_who_asks_is_the_key_or_what_the_address_says() -> None:
    basic = base64.b64encode(b"me:secret").decode()
    assert "Authorization: Bearer key" in asked("http://HOST/v1", "key").heads[0].replace(
        "authorization", "Authorization"
    )
    assert f"Authorization: Basic {basic}" in asked("http://me:secret@HOST/v1").heads[0]
    both = asked("http://me:secret@HOST/v1", "key").heads[0]
    assert f"Authorization: Basic {basic}" in both
    assert "key" not in both


def test_connections_are_used_again_and_no_cookie_is_kept() -> None:
    host = asked("http://HOST/v1/", times=3)
    assert (host.connections, len(host.heads)) == (1, 3)
    assert not any("cookie" in head.lower() for head in host.heads)
    assert all("accept-encoding: identity" in head.lower() for head in host.heads)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://me:secret@127.0.0.1:9/v1", "cannot connect: Connection refused"),
        ("http://me:secret@no-such-host.invalid/v1", "cannot connect: "),
        ("ftp://me:secret@127.0.0.1:9/v1", "is no whole reply"),
    ],
)
def test_what_goes_wrong_is_told_without_the_address(address, words) -> None:
    with pytest.raises(EngineError, match=words) as caught:
        asyncio.run(ask(address))
    assert "secret" not in str(caught.value)


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "host")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(certificate.public_bytes(pem))
    private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(pem, *private))
    return folder / "cert.pem", folder / "key.pem"


@pytest.mark.parametrize("trusted", [True, False])
def test_certificates_are_those_that_the_system_trusts(monkeypatch, tmp_path, trusted) -> None:
    certificate, key = self_signed(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    async def run() -> list[str]:
        async with listening(context) as host:
            await ask(f"https://{host.address}/v1")
        return host.heads

    if trusted:
        assert len(asyncio.run(run())) == 1
    else:
        with pytest.raises(EngineError, match="no answer from the upstream"):
            asyncio.run(run())
