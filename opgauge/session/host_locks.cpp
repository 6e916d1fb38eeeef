// SPDX-License-Identifier: Apache-2.0
#include "opgauge/session/host_locks.h"

#include "opgauge/base/clock.h"
#include "opgauge/base/text.h"
#include "opgauge/run/signals.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cctype>
#include <ctime>
#include <optional>
#include <utility>

namespace opgauge {
namespace {

constexpr const char* kMeasureLock = "measure.lock";
constexpr const char* kSlots = "measuring.slots";
// One byte each; more processes than that measure all the same, uncounted.
constexpr int kSlotCount = 64;
constexpr std::chrono::milliseconds kLeaseTick{50};

// Places of the processes that measure: byte i of the file is locked by the one that has place i.
// Locks of the open file (OFD), so that the kernel frees them whatever ends the process, and that
// can be looked at without being taken, which flock cannot.
class Slots {
  public:
    explicit Slots(FileLock file) : file_(std::move(file)) {}

    void take() {
        for (int i = 0; i < kSlotCount && mine_ < 0; ++i) {
            if (set(F_WRLCK, i)) mine_ = i;
        }
    }
    void give_back() {
        if (mine_ >= 0) set(F_UNLCK, mine_);
        mine_ = -1;
    }
    int others() const {
        int count = 0;
        for (int i = 0; i < kSlotCount; ++i) {
            struct flock lock = at(F_WRLCK, i);
            // Our own place is no conflict of this open file.
            if (::fcntl(file_.fd(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) ++count;
        }
        return count;
    }

  private:
    static struct flock at(short type, int place) {
        struct flock lock {};
        lock.l_type = type;
        lock.l_whence = SEEK_SET;
        lock.l_start = place;
        lock.l_len = 1;
        return lock;
    }
    bool set(short type, int place) const {
        struct flock lock = at(type, place);
        return ::fcntl(file_.fd(), F_OFD_SETLK, &lock) == 0;
    }

    FileLock file_;
    int mine_ = -1;
};

class HostSection final : public MeasuringSection {
  public:
    HostSection(std::optional<FileLock> lock, Slots slots)
        : lock_(std::move(lock)), slots_(std::move(slots)) {}

    bool try_enter() override {
        if (lock_ && !lock_->try_lock()) return false;
        slots_.take();
        return true;
    }
    void leave() override {
        slots_.give_back();
        if (lock_) lock_->unlock();
    }
    int neighbours() override { return slots_.others(); }

  private:
    std::optional<FileLock> lock_;  // absent: measures beside others
    Slots slots_;
};

class DeviceTurn final : public HostTurn {
  public:
    explicit DeviceTurn(FileLock lock) : lock_(std::move(lock)) {}

    bool try_enter() override { return lock_.try_lock(); }
    void leave() override { lock_.unlock(); }

  private:
    FileLock lock_;
};

// What is no letter, digit or dash of an id must not become part of a path.
std::string lock_name(const char* what, const Device& device) {
    std::string id = device.uuid.value_or(
        device.pci_id.value_or(fmt::format("{}-{}", device.backend, device.index)));
    for (char& c : id) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
    }
    return fmt::format("{}-{}.lock", what, id);
}

// False: a signal came.
bool pause() {
    const timespec time{0, std::chrono::nanoseconds(kLeaseTick).count()};
    ::ppoll(nullptr, 0, &time, &SignalGuard::wait_mask());
    return SignalGuard::count() == 0;
}

std::string own_description(const std::string& command, const Environment& environment) {
    const std::string user = environment.get_non_empty("USER").value_or(std::to_string(::getuid()));
    return fmt::format("pid {} of {}, since {}: {}", ::getpid(), user,
                       utc_text(SystemClock().wall_time()), printable(command, 200));
}

}  // namespace

std::filesystem::path locks_folder(const Environment& environment) {
    return environment.get_non_empty("OPGAUGE_LOCKS").value_or("/tmp/opgauge-locks");
}

Result<std::unique_ptr<MeasuringSection>> open_measuring_section(Measuring measuring,
                                                                 const Environment& environment) {
    const auto folder = locks_folder(environment);
    OPGAUGE_TRY(make_shared_folder(folder));
    std::optional<FileLock> lock;
    if (measuring == Measuring::exclusive) {
        OPGAUGE_TRY_ASSIGN(lock, FileLock::open(folder / kMeasureLock));
    }
    OPGAUGE_TRY_ASSIGN(FileLock slots, FileLock::open(folder / kSlots));
    return std::make_unique<HostSection>(std::move(lock), Slots(std::move(slots)));
}

Result<std::unique_ptr<HostTurn>> open_device_turn(const Device& device,
                                                   const Environment& environment) {
    const auto folder = locks_folder(environment);
    OPGAUGE_TRY(make_shared_folder(folder));
    OPGAUGE_TRY_ASSIGN(FileLock lock, FileLock::open(folder / lock_name("turn", device)));
    return std::make_unique<DeviceTurn>(std::move(lock));
}

Result<DeviceLease> DeviceLease::take(const Device& device, const std::string& command,
                                      std::chrono::milliseconds wait,
                                      const Environment& environment) {
    const auto folder = locks_folder(environment);
    OPGAUGE_TRY(make_shared_folder(folder));
    OPGAUGE_TRY_ASSIGN(FileLock lock, FileLock::open(folder / lock_name("device", device)));
    const auto until = std::chrono::steady_clock::now() + wait;
    while (!lock.try_lock()) {
        if (std::chrono::steady_clock::now() < until && pause()) continue;
        const std::string holder = lock.holder();
        return fail(ErrorKind::environment,
                    fmt::format("device {} is leased by {}; wait for it (--wait-lease SECONDS) or "
                                "choose another device",
                                device.token, holder.empty() ? "another process" : holder));
    }
    lock.describe_holder(own_description(command, environment));
    return DeviceLease(std::move(lock));
}

}  // namespace opgauge
